/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var je=Object.create;var ue=Object.defineProperty;var Ve=Object.getOwnPropertyDescriptor;var Ge=Object.getOwnP" +
  "ropertyNames;var Je=Object.getPrototypeOf,ze=Object.prototype.hasOwnProperty;var Ze=(t,e,r,n)=>{if(e&&typeof e" +
  "==\"object\"||typeof e==\"function\")for(let o of Ge(e))!ze.call(t,o)&&o!==r&&ue(t,o,{get:()=>e[o],enumerable:!(n=" +
  "Ve(e,o))||n.enumerable});return t};var fe=(t,e,r)=>(r=t!=null?je(Je(t)):{},Ze(e||!t||!t.__esModule?ue(r,\"defau" +
  "lt\",{value:t,enumerable:!0}):r,t));var We=fe(require(\"node:process\")),le=require(\"node:worker_threads\");functi" +
  "on ye(t){let e;return()=>e??=t()}var pe=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",he=\"\\\\p{Extended_Pic" +
  "tographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",Ye=[`${he}(?:\\\\u200d${he})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${pe})[\\\\u2" +
  "00c\\\\u200d](?=${pe})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1,4}\"].j" +
  "oin(\"|\"),Qe=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",Xe=\"(?! )\\\\p{Zs}|^ |(?<= ) | " +
  "$|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",er=ye(()=>new RegExp(`(${Ye})|[${Qe}]|${Xe}`,\"gu\")),V=\"!-[\\\\]-~\\\\u00a1-\\\\u00ac\\\\u0" +
  "0ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",rr=new RegExp(`^[${V}]+(?: [${V}]+)*$`" +
  "),kr=new RegExp(`^[${V} \\\\\\\\\\\\n\\\\t]*$`);var tr=/^[\\p{Zs}\\\\]/u;function nr(t,e){return t.replace(er(),(r,n)=>n?" +
  "?(e.test(r)?r:or(r)))}function or(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function T(t){return rr.te" +
  "st(t)?t:nr(t,tr)}var ir=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym S" +
  "inh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Hani\",\"B" +
  "opo\"],[\"Latn\",\"Hani\",\"Hang\"]],Pr=ye(()=>{let t=ir.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new RegExp" +
  "(t.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var s={invalidArgument:3,deadlineExceeded:4,no" +
  "tFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRange:11," +
  "unimplemented:12,internal:13,unavailable:14,unauthenticated:16},a=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClas" +
  "s:n,retryable:!1}),p=(...t)=>({...a(...t),retryable:!0}),M={join_timeout:p(504,s.deadlineExceeded,257,\"Transpo" +
  "rtError\"),auth_failed:a(401,s.unauthenticated,258,\"AuthError\"),auth_key_invalid:a(401,s.unauthenticated,259,\"A" +
  "uthError\"),transport_error:p(502,s.unavailable,260,\"TransportError\"),connection_error:p(502,s.unavailable,261," +
  "\"TransportError\"),listener_died:a(500,s.internal,262,\"TransportError\"),channel_error:a(400,s.invalidArgument,2" +
  "63,\"ChannelError\"),quota_exceeded:a(429,s.resourceExhausted,264,\"QuotaExceededError\"),mls_error:a(409,s.failed" +
  "Precondition,265,\"MlsError\"),invalid_request:a(400,s.invalidArgument,272,\"InvalidArgumentError\"),not_found:a(4" +
  "04,s.notFound,273,\"ChannelError\"),method_not_allowed:a(405,s.unimplemented,274,\"InvalidArgumentError\"),payload" +
  "_too_large:a(413,s.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:a(415,s.invalidArgument,276,\"" +
  "InvalidArgumentError\"),rate_limited:p(429,s.resourceExhausted,277,\"UnavailableError\"),internal:a(500,s.interna" +
  "l,278,\"InternalError\"),overloaded:p(503,s.unavailable,279,\"UnavailableError\"),email_taken:a(409,s.alreadyExist" +
  "s,288,\"AuthError\"),key_limit_reached:a(409,s.resourceExhausted,289,\"AuthError\"),account_suspended:a(403,s.perm" +
  "issionDenied,290,\"AuthError\"),conflict:a(409,s.aborted,291,\"AuthError\"),code_invalid:a(400,s.invalidArgument,2" +
  "92,\"AuthError\"),csrf_failed:a(403,s.permissionDenied,293,\"AuthError\"),protocol_error:a(400,s.invalidArgument,3" +
  "04,\"TransportError\"),unsupported_version:a(400,s.failedPrecondition,305,\"TransportError\"),unknown_operation:a(" +
  "404,s.unimplemented,306,\"TransportError\"),session_expired:a(401,s.unauthenticated,307,\"AuthError\"),session_rep" +
  "laced:a(409,s.aborted,308,\"TransportError\"),slow_reader:p(429,s.resourceExhausted,309,\"UnavailableError\"),rela" +
  "y_draining:p(503,s.unavailable,310,\"UnavailableError\"),certificate_changed:a(502,s.failedPrecondition,311,\"Tra" +
  "nsportError\"),name_taken:a(409,s.alreadyExists,320,\"ChannelError\"),epoch_conflict:p(409,s.aborted,321,\"MlsErro" +
  "r\"),not_allowed:a(403,s.permissionDenied,322,\"ChannelError\"),member_limit_reached:a(409,s.resourceExhausted,32" +
  "3,\"ChannelError\"),already_member:a(409,s.alreadyExists,324,\"ChannelError\"),identity_present:a(409,s.alreadyExi" +
  "sts,356,\"ChannelError\"),queue_full:p(429,s.resourceExhausted,325,\"ChannelError\"),cursor_invalid:a(416,s.outOfR" +
  "ange,326,\"ChannelError\"),key_package_invalid:a(400,s.invalidArgument,327,\"MlsError\"),key_package_missing:p(404" +
  ",s.failedPrecondition,328,\"MlsError\"),join_rejected:a(403,s.permissionDenied,329,\"ChannelError\"),membership_la" +
  "psed:a(410,s.failedPrecondition,330,\"ChannelError\"),state_conflict:a(409,s.failedPrecondition,331,\"MlsError\")," +
  "storage_full:p(507,s.resourceExhausted,332,\"ChannelError\"),link_invalid:a(400,s.invalidArgument,333,\"InvalidAr" +
  "gumentError\"),removed:a(410,s.failedPrecondition,355,\"RemovedError\"),members_must_update:a(409,s.failedPrecond" +
  "ition,334,\"ChannelError\"),successor_needed:a(409,s.failedPrecondition,335,\"ChannelError\"),choice_needed:a(409," +
  "s.failedPrecondition,357,\"ChannelError\"),content_invalid:a(400,s.invalidArgument,352,\"ChannelError\"),request_t" +
  "imeout:p(504,s.deadlineExceeded,353,\"TransportError\"),remote_error:a(502,s.aborted,354,\"RemoteError\"),store_lo" +
  "cked:p(409,s.failedPrecondition,336,\"StoreError\"),store_corrupt:a(500,s.internal,337,\"StoreError\"),store_full:" +
  "a(507,s.resourceExhausted,340,\"StoreError\"),store_failed:a(500,s.internal,339,\"StoreError\"),passphrase_wrong:a" +
  "(401,s.unauthenticated,338,\"StoreError\")};function U(t){return Object.hasOwn(M,t)}var Mr=new Map(Object.entrie" +
  "s(M).flatMap(([t,{close:e}])=>U(t)?[[e,t]]:[])),m=class extends Error{name=\"WireError\";code;requestId;construc" +
  "tor(e,r,n={}){super(T(r),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var" +
  " g=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:108" +
  "1344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024" +
  ",envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomes" +
  "PerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerCh" +
  "annel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,u" +
  "nconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes" +
  ":64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFie" +
  "ldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderN" +
  "ameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChanne" +
  "l:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs" +
  ":6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var E=3,y=4,O=2,G={control:0,d" +
  "ata:1};function H(t){if(!Number.isInteger(t)||t<g.minCellBytes||t>g.maxCellBytes)throw new m(\"protocol_error\"," +
  "`A cell has ${g.minCellBytes} to ${g.maxCellBytes} bytes, not ${t}`);return t}function $(t){if(t===0||t>g.enve" +
  "lopeBytes)throw new m(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${g.envelopeBytes} are " +
  "allowed`)}var R=class{#r;#e=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#r=H(e)}set cellBytes(e){if(this.#n>0)t" +
  "hrow new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#r=H(e)}get cellBytes(){ret" +
  "urn this.#r}get pendingBytes(){return this.#n}push(e,r){$(r.length),(e===\"control\"?this.#e:this.#t).push(r),th" +
  "is.#n+=r.length+y}next(e){let r=this.#e.length>0?G.control:G.data,n=r===G.control?this.#e:this.#t;if(n.length=" +
  "==0)return;let o=e?.length===this.#r?e:new Uint8Array(this.#r);return this.#i(o,n,r),o}#i(e,r,n){let o=E,i=0,l" +
  "=this.#o[n]??0;for(let f of r){if(l===0){if(e.length-o<=y)break;sr(e,o,f.length),o+=y,l=y}let d=l-y,u=f.subarr" +
  "ay(d,d+e.length-o);if(e.set(u,o),o+=u.length,l+=u.length,l-y<f.length)break;i++,l=0}let h=o-E;i===1?r.shift():" +
  "r.splice(0,i),this.#o[n]=l,this.#n-=h,e[0]=n,e[1]=h>>8,e[2]=h&255,e.fill(0,o)}};function J(t,e,r){let n=e+O;re" +
  "turn t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function sr(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t" +
  "[e+2]=r>>>8,t[e+3]=r}var ar=64*1024,me=.5,dr=2,I=class{#r;#e;#t=[];#o=0;#n=0;#i=new Uint8Array(0);#s=\"off\";#a=" +
  "0;#u;#f=0;#d=!0;#l=!1;#h=!1;#c=!1;#y=new Set;#p={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor" +
  "(e){this.#r=e,this.#e=new R(e.cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get co" +
  "unts(){return{...this.#p}}push(e,r){this.#c||(this.#t.length===0?this.#e.push(e,r):($(r.length),this.#t.push({" +
  "lane:e,envelope:r}),this.#o+=r.length+y),this.#m())}setCellBytes(e){this.#t.push({cellBytes:H(e)}),this.#A()}c" +
  "onfigure(e,r){if(!this.#c){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r" +
  "}`);this.#u?.(),this.#u=void 0,this.#s=e,this.#a=r,this.#l=!1,this.#f=this.#r.nowMs(),e!==\"off\"&&this.#E(),thi" +
  "s.#m()}}setCovering(e){this.#d=e}flush(e){return this.#c?Promise.resolve(this.pendingBytes===0):!this.#h&&this" +
  ".pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=i=>{this.#y.delete(n),o(),r(i)},o=this.#r.after(e," +
  "()=>n(!1));this.#y.add(n)})}stop(){this.#c=!0,this.#u?.(),this.#u=void 0,this.#i=new Uint8Array(0);for(let e o" +
  "f this.#y)e(!1)}#m(){this.#h||this.#c||!this.#x()||(this.#h=!0,this.#C())}#x(){return this.#l||this.#s!==\"cons" +
  "tant\"&&this.#e.pendingBytes>0}async#C(){await void 0;try{for(;!this.#c&&this.#x();){let e=this.#s===\"constant\"" +
  "?this.#_():this.#S();if(await this.#r.write(e,this.#e.cellBytes),this.#n=0,this.#c)break;this.#A(),this.#r.onW" +
  "ritten?.()}}catch(e){this.#n=0;let r=this.#c;this.stop(),r||this.#r.onFailed?.(e)}this.#h=!1,this.#B()}#B(){if" +
  "(!(this.#c||this.pendingBytes>0)){this.#i.length>dr*this.#e.cellBytes&&(this.#i=new Uint8Array(0));for(let e o" +
  "f this.#y)e(!0)}}#_(){this.#l=!1;let e=this.#g(1);return this.#b(e)?e:this.#w(e)}#S(){let{cellBytes:e,pendingB" +
  "ytes:r}=this.#e;if(r===0)return this.#l=!1,this.#w(this.#g(1));let n=Math.ceil(r/(e-E))+1,o=this.#g(Math.min(n" +
  ",Math.max(1,Math.floor(ar/e)))),i=0;for(;i<o.length&&this.#b(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#" +
  "g(e){let r=e*this.#e.cellBytes;return this.#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#b(e" +
  "){let r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+" +
  "=n,this.#p.cells++,this.#p.paddingBytes+=e.length-E-n,this.#v(e,E+n),!0}#w(e){return this.#p.cells++,this.#p.c" +
  "overCells++,this.#p.coverBytes+=e.length,this.#v(e.fill(0),E),e}#v(e,r){let{rider:n}=this.#r;if(n!==void 0)for" +
  "(let o=r;e.length-o>O;){let i=n(e.length-o-O);if(i===void 0)return;o=J(e,o,i)}}#E(){let e=this.#r.nowMs();this" +
  ".#u=this.#r.after(this.#s===\"poisson\"?this.#k():this.#P(e),()=>{this.#l=this.#d||this.#s===\"constant\"&&this.#e" +
  ".pendingBytes>0,this.#E(),this.#m()})}#k(){return-Math.log(1-this.#r.random())*this.#a}#P(e){this.#f=lr(this.#" +
  "f,this.#a,e);let r=this.#r.random()*me*this.#a;return Math.max((1-me)*this.#a,this.#f-r-e)}#A(){for(;this.#e.p" +
  "endingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t." +
  "splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+y,thi" +
  "s.#e.push(r.lane,r.envelope))}}};function lr(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));" +
  "return t+(n+1)*e}function z(t,e){if(t.length!==e.length)return!1;let r=0;for(let n=0;n<t.length;n++)r|=(t[n]??" +
  "0)^(e[n]??0);return r===0}function _(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cau" +
  "se:void 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e." +
  "join(\": \")}var K=class{#r=new Map;offer(e,r){this.#r.delete(e),this.#r.set(e,r)}take(e){for(let[r,n]of this.#r" +
  ")if(!(n.length>e))return this.#r.delete(r),n}};var cr=2e3;function ge(t,e){let r,n,o=0,i=new K,l=d=>{t.post({k" +
  "ind:\"written\",takenBytes:o-d.pendingBytes,counts:d.counts})},h=async({transport:d,target:u,isTapped:A})=>{let " +
  "C=e.connectors.find(c=>c.transport===d);if(C===void 0)throw new Error(`no way to connect by ${d} in a thread o" +
  "f its own`);let P=r=await C.connect(u,new AbortController().signal),B=n=new I({cellBytes:g.cellBytes,write:(c," +
  "v)=>(A&&t.post({kind:\"sent\",cells:c.slice(),cellBytes:v}),P.write(c,v)),after:e.after,nowMs:e.nowMs,random:()=" +
  ">new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:c=>i.take(c),onWritten:()=>l(B),onFailed:()=>t" +
  ".post({kind:\"failed\"})});P.closed.then(c=>t.post({kind:\"closed\",end:c})),t.post({kind:\"connected\"})},f=async()" +
  "=>{let d=await r?.read();t.post({kind:\"chunk\",bytes:d?.slice()})};t.listen(d=>{switch(d.kind){case\"connect\":re" +
  "turn void h(d).catch(u=>t.post({kind:\"refused\",message:_(u)}));case\"push\":return o+=d.envelope.length+y,n?.pus" +
  "h(d.lane,d.envelope);case\"offer\":return i.offer(d.key,d.envelope);case\"cellBytes\":return n?.setCellBytes(d.cel" +
  "lBytes);case\"configure\":return n?.configure(d.mode,d.intervalMs);case\"covering\":return n?.setCovering(d.coveri" +
  "ng);case\"flush\":return void n?.flush(d.timeoutMs).then(u=>{t.post({kind:\"flushed\",id:d.id,flushed:u})});case\"r" +
  "ead\":return void f();case\"stop\":return n?.stop();case\"close\":return r?.close(d.closeCode),void e.after(cr,e.ex" +
  "it)}})}var w=require(\"node:http2\");function D({host:t,port:e}){return`${t.includes(\":\")?`[${t}]`:t}:${e}`}var " +
  "b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constru" +
  "ctor(e,r,n={}){super(T(r),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??M[e" +
  "].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unre" +
  "achable,this.members=n.members}},L=class extends b{name=\"TransportError\"},Z=class extends L{name=\"UnavailableE" +
  "rror\"},Y=class extends L{name=\"InternalError\"},Q=class extends b{name=\"AuthError\"},N=class extends b{name=\"Cha" +
  "nnelError\"},X=class extends N{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this" +
  ".atMs=n.atMs}},ee=class extends b{name=\"QuotaExceededError\"},re=class extends b{name=\"MlsError\"},te=class exte" +
  "nds b{name=\"InvalidArgumentError\"},ne=class extends b{name=\"StoreError\"},oe=class extends b{name=\"RemoteError\"" +
  ";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};funct" +
  "ion x(t){return(e,r,n)=>new t(e,r,n)}var ut={TransportError:x(L),AuthError:x(Q),ChannelError:x(N),QuotaExceede" +
  "dError:x(ee),MlsError:x(re),InvalidArgumentError:x(te),StoreError:x(ne),UnavailableError:x(Z),RemovedError:x(X" +
  "),RemoteError:(t,e,r)=>new oe(e,r),InternalError:x(Y)};function xe(t,e){return e!==void 0&&U(e)?e:t===429?\"rat" +
  "e_limited\":t===503?\"overloaded\":void 0}var S=5,ur=64*1024,be=10,ie=new TextDecoder;function we(t,e){let r=fr(b" +
  "e,e),n=S+r.length+e,o=new Uint8Array(t.length/e*n);for(let i=0;i<t.length/e;i++){let l=i*n;pr(o,l+1,r.length+e" +
  "),o.set(r,l+S),o.set(t.subarray(i*e,(i+1)*e),l+S+r.length)}return o}function ve(t){let{value:e,end:r}=Be(t,0,b" +
  "e);if(r!==t.length)throw new m(\"protocol_error\",\"A cell's message holds more than a cell\");return e}function E" +
  "e(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of se(t))r===4&&typeof n==\"number\"&&(e={...e,retryAfte" +
  "rMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:ie.decode(n)}),r===2&&(e={...e,message:ie.decode(n)}));retur" +
  "n e}function*Ae(t){for(let{field:e,value:r}of se(t)){if(e!==3||typeof r==\"number\")continue;let[n,o]=[\"\",new Ui" +
  "nt8Array];for(let i of se(r))typeof i.value!=\"number\"&&(i.field===1&&(n=ie.decode(i.value).replace(/^.*\\//,\"\")" +
  "),i.field===2&&(o=i.value.slice()));yield{type:n,value:o}}}var F=class{#r=new Uint8Array(S);#e=0;#t=new Uint8A" +
  "rray(0);#o=0;read(e,r){let n=0;for(;n<e.length;){if(this.#e<S){let i=e.subarray(n,n+S-this.#e);if(this.#r.set(" +
  "i,this.#e),this.#e+=i.length,n+=i.length,this.#e<S)return;this.#n()}let o=e.subarray(n,n+this.#t.length-this.#" +
  "o);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,this.#o===this" +
  ".#t.length&&this.#i(this.#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint32(1);if(e===0||e>ur)throw new" +
  " m(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#t=new Uint8" +
  "Array(e)),this.#o=0}#i(e,r){this.#e=0,r(this.#r[0]??0,e)}};function Ce(t){let e=new Uint8Array(t.reduce((n,{le" +
  "ngth:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function fr(t,e){let r=[t];for(let n=e;n>" +
  "0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function Be(t,e,r){if(t[e]!==r)thro" +
  "w new m(\"protocol_error\",\"A message without the field that it must have\");let{value:n,end:o}=_e(t,e+1);if(n>t." +
  "length-o)throw Se();return{value:t.subarray(o,o+n),end:o+n}}function*se(t){for(let e=0;e<t.length;){let r=t[e]" +
  "??0,{value:n,end:o}=(r&7)===0?_e(t,e+1):Be(t,e,r&-8|2);yield{field:r>>3,value:n},e=o}}function _e(t,e){let r=0" +
  ";for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){let i=t[o++]??0;if(r+=(i&127)*n,i<128)return{value:r,end:o}}th" +
  "row Se()}function Se(){return new m(\"protocol_error\",\"A field goes beyond the end of its message\")}function pr" +
  "(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var hr=\"static.relay.v1.ErrorDetail\";function ke(t," +
  "e){try{for(let{type:r,value:n}of Ae(mr(t))){let o=r===hr?yr(()=>n):void 0;if(o!==void 0)return o}}catch{}retur" +
  "n{message:e}}function Pe(t,e,{message:r,...n}){let o=xe(t);if(o===void 0)return{message:r};if(n.code!==void 0)" +
  "return{message:r,...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:r,...i>=0&&{retryAfter" +
  "Ms:i}}}function yr(t){try{let{code:e,message:r,retryAfterMs:n}=Ee(t());return U(e)?{code:e,message:r,retryAfte" +
  "rMs:n}:void 0}catch{return}}function mr(t){return Uint8Array.from(atob(t),e=>e.charCodeAt(0))}var Le=require(\"" +
  "node:crypto\"),He=require(\"node:net\"),W=require(\"node:tls\");var Me=require(\"node:buffer\"),Re=require(\"node:http" +
  "\"),ae=require(\"node:https\"),k=require(\"node:net\"),Oe=fe(require(\"node:process\"));function gr(t,e=Oe.default.en" +
  "v){let r=Ue(e,\"ALL_PROXY\",\"all_proxy\",\"HTTPS_PROXY\",\"https_proxy\"),n=Ue(e,\"NO_PROXY\",\"no_proxy\");if(r===void 0" +
  "||xr(t,e[n??\"\"]??\"\"))return;let o=e[r]??\"\",i=o.includes(\"://\")?o:`http://${o}`,l=URL.canParse(i)?new URL(i):vo" +
  "id 0;if(l?.protocol!==\"http:\"&&l?.protocol!==\"https:\")throw new Error(`${r} is no address of an HTTP proxy; wr" +
  "ite http://host:port`);if(Te(l.username)&&Te(l.password))return l;throw new Error(`${r} has a \"%\" in its name " +
  "or password that encodes nothing; write %25 for it`)}function Ue(t,...e){return e.find(r=>t[r]!==void 0&&t[r]!" +
  "==\"\")}function Te(t){try{return decodeURIComponent(t),!0}catch{return!1}}function xr(t,e){return e.split(\",\")." +
  "map(r=>r.trim().toLowerCase()).some(r=>{if(r===\"\")return!1;if(r===\"*\")return!0;if((0,k.isIP)(t)!==0)return br(" +
  "t,r);let n=r.replace(/^\\./,\"\");return t===n||t.endsWith(`.${n}`)})}function br(t,e){let[r,n]=(0,k.isIP)(t)===6" +
  "?[\"ipv6\",128]:[\"ipv4\",32],[o=\"\",i=String(n),...l]=e.replace(/^\\[|\\]$/g,\"\").split(\"/\");if(!((0,k.isIP)(o)===(0," +
  "k.isIP)(t)&&/^\\d+$/.test(i)&&Number(i)<=n&&l.length===0))return!1;let f=new k.BlockList;return f.addSubnet(o,N" +
  "umber(i),r),f.check(t,r)}async function Ie(t,e){let r=gr(t.host);return r&&await wr(t,r,e)}function wr(t,e,r){" +
  "let n=D(t),{protocol:o,hostname:i,port:l,username:h,password:f}=e,d=decodeURIComponent(h),u=Me.Buffer.from(`${" +
  "d}:${decodeURIComponent(f)}`).toString(\"base64\");return new Promise((A,C)=>{let P=(c,v)=>C(new Error(`the prox" +
  "y ${e.host} does not lead to ${n}: ${c}`,{cause:v})),B=(o===\"https:\"?ae.request:Re.request)({host:i.replace(/^" +
  "\\[|\\]$/g,\"\"),port:l===\"\"?o===\"https:\"?443:80:Number(l),method:\"CONNECT\",path:n,headers:{host:n,...h!==\"\"&&{\"pr" +
  "oxy-authorization\":`Basic ${u}`}},agent:!1,...r&&{signal:r}});B.once(\"connect\",({statusCode:c=0},v,qe)=>{v.on(" +
  "\"error\",()=>{});let ce=c>=200&&c<300;if(ce&&qe.length===0)return A(v);v.destroy(),P(ce?\"it says more than it w" +
  "as asked\":`HTTP status ${c}`)}),B.once(\"response\",({statusCode:c})=>{B.destroy(),P(`HTTP status ${c}`)}),B.on(" +
  "\"error\",c=>r?.aborted?C(r.reason):P(c.message,c)),B.end()})}async function $e(t,e,r){return await vr(t,{tunnel" +
  ":await Ie(t,r),protocol:e,signal:r})}function vr({host:t,port:e,trust:r},{tunnel:n,protocol:o,signal:i}){retur" +
  "n new Promise((l,h)=>{if(i.aborted)return n?.destroy(),h(i.reason);let f=r.certificateHashes.length>0,d=(0,W.c" +
  "onnect)({host:t,port:e,...n&&{socket:n},...(0,He.isIP)(t)===0&&{servername:t},ALPNProtocols:[o],minVersion:\"TL" +
  "Sv1.3\",...r.caCerts.length>0&&{ca:[...W.rootCertificates,...r.caCerts]},rejectUnauthorized:!f}),u=C=>{i.remove" +
  "EventListener(\"abort\",A),d.destroy(),h(C)},A=()=>u(i.reason);i.addEventListener(\"abort\",A),d.on(\"error\",u),d.o" +
  "nce(\"secureConnect\",()=>{if(f&&!Er(d,r))return u(new Error(\"the relay's certificate is none of tls.certificate" +
  "Hashes\"));if(d.alpnProtocol!==o)return u(new Error(`the server does not speak ${o}`));i.removeEventListener(\"a" +
  "bort\",A),l(d)})})}function Er(t,{certificateHashes:e}){let r=(0,Le.createHash)(\"sha256\").update(t.getPeerCerti" +
  "ficate().raw).digest();return e.some(n=>z(n,r))}var q=class{#r=new Map;#e;#t=1/0;#o=0;after(e,r){let n=Math.ce" +
  "il((performance.now()+e)/250),o={run:r},i=this.#r.get(n);return i===void 0?this.#r.set(n,new Set([o])):i.add(o" +
  "),this.#o++,n<this.#t?this.#s(n):this.#o===1&&this.#i(!0),()=>{this.#n(n,o)}}#n(e,r){let n=this.#r.get(e);retu" +
  "rn n===void 0||!n.delete(r)?!1:(n.size===0&&this.#r.delete(e),this.#o--,this.#o===0&&this.#i(!1),!0)}#i(e){typ" +
  "eof this.#e==\"object\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeout(this.#e),this.#t=e;let r=Math.max(" +
  "0,e*250-performance.now());this.#e=setTimeout(()=>this.#a(),Math.min(r,2147483647))}#a(){this.#e=void 0,this.#" +
  "t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#r)if(n*250>e)r=Math.min(r,n);else for(let i of o)queu" +
  "eMicrotask(()=>this.#n(n,i)&&i.run());r<1/0&&this.#s(r)}};function Ke(){return Date.now()}var Ar=5e3,Cr=new q;" +
  "function j(t,e){if(t>=Ar)return Cr.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function De(t){r" +
  "eturn crypto.getRandomValues(new Uint8Array(t))}var Ne=1024*1024,Br=1500,Fe={transport:\"grpc\",carrier:\"tcp\",un" +
  "usable:()=>{},connect:async(t,e)=>new de(await $e(t,\"h2\",e),t)},de=class{#r;#e;#t;#o=new F;#n;#i=()=>{};#s;clo" +
  "sed;constructor(e,r){let n=D(r);this.closed=new Promise(o=>this.#i=o),this.#r=(0,w.connect)(`https://${n}`,{cr" +
  "eateConnection:()=>e,settings:{initialWindowSize:Ne,enablePush:!1}}),this.#r.once(\"connect\",()=>this.#r.setLoc" +
  "alWindowSize(Ne)),this.#r.on(\"error\",o=>this.#d({message:_(o)})),this.#r.on(\"goaway\",()=>this.#r.close()),this" +
  ".#e=this.#r.request({[w.constants.HTTP2_HEADER_METHOD]:\"POST\",[w.constants.HTTP2_HEADER_AUTHORITY]:n,[w.consta" +
  "nts.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[w.constants.HTTP2_HEADER_CONTENT_TYPE]:\"application/g" +
  "rpc\",[w.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({message:_(o)})),this.#e.on(\"res" +
  "ponse\",o=>this.#u(o)),this.#e.on(\"trailers\",o=>this.#f(o)),this.#e.on(\"close\",()=>{this.#d({message:\"the conne" +
  "ction was cut off\"}),this.#l()}),this.#t=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done:e,v" +
  "alue:r}=await this.#t.next();if(e)break;let n=[];if(this.#o.read(r,(o,i)=>{if(o!==0)throw new Error(\"compresse" +
  "d cells were not asked for\");n.push(ve(i).slice())}),n.length>0)return Ce(n)}}catch(e){this.#d({message:_(e)})" +
  "}this.#a()}write(e,r){return new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));this" +
  ".#e.write(we(e,r),i=>{if(!i)return n();this.#d({message:_(i)}),o(i)})})}close(e){this.#i({message:\"it was clos" +
  "ed by this side\"}),e===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=j(Br,()=>this.#l())}#u(e){let r=e[w." +
  "constants.HTTP2_HEADER_STATUS];if(r!==200){let n=`The relay returned HTTP status ${String(r)} for Session`;ret" +
  "urn this.#d(Pe(r,e[\"retry-after\"],{message:n}))}e[\"grpc-status\"]!==void 0&&this.#f(e)}#f(e){let{\"grpc-status\":" +
  "r,\"grpc-message\":n,\"grpc-status-details-bin\":o}=e,i=typeof n==\"string\"&&n!==\"\"?_r(n):\"the relay ended the stre" +
  "am\";if(r===\"0\")return this.#d({message:\"the relay ended the stream\"});this.#d(ke(typeof o==\"string\"?o:\"\",i))}#" +
  "d(e){this.#n===void 0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()=>{},this.#n??={message:\"it" +
  " was closed by this side\"},this.#e.destroy(),this.#r.destroy()}};function _r(t){try{return decodeURIComponent(" +
  "t).slice(0,1024)}catch{return t.slice(0,1024)}}ge({post:t=>le.parentPort?.postMessage(t),listen:t=>{le.parentP" +
  "ort?.on(\"message\",t)}},{connectors:[Fe],nowMs:Ke,after:j,randomBytes:De,exit:()=>We.default.exit()});\n";
