/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var Fe=Object.create;var ce=Object.defineProperty;var We=Object.getOwnPropertyDescriptor;var je=Object.getOwnP" +
  "ropertyNames;var Ve=Object.getPrototypeOf,Ge=Object.prototype.hasOwnProperty;var Je=(t,e,r,n)=>{if(e&&typeof e" +
  "==\"object\"||typeof e==\"function\")for(let o of je(e))!Ge.call(t,o)&&o!==r&&ce(t,o,{get:()=>e[o],enumerable:!(n=" +
  "We(e,o))||n.enumerable});return t};var ue=(t,e,r)=>(r=t!=null?Fe(Ve(t)):{},Je(e||!t||!t.__esModule?ce(r,\"defau" +
  "lt\",{value:t,enumerable:!0}):r,t));var Ne=ue(require(\"node:process\")),le=require(\"node:worker_threads\");functi" +
  "on he(t){let e;return()=>e??=t()}var pe=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",fe=\"\\\\p{Extended_Pic" +
  "tographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",ze=[`${fe}(?:\\\\u200d${fe})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${pe})[\\\\u2" +
  "00c\\\\u200d](?=${pe})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1,4}\"].j" +
  "oin(\"|\"),Ye=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",Ze=\"(?! )\\\\p{Zs}|^ |(?<= ) | " +
  "$|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",Xe=he(()=>new RegExp(`(${ze})|[${Ye}]|${Ze}`,\"gu\")),V=\"!-[\\\\]-~\\\\u00a1-\\\\u00ac\\\\u0" +
  "0ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",Qe=new RegExp(`^[${V}]+(?: [${V}]+)*$`" +
  "),Br=new RegExp(`^[${V} \\\\\\\\\\\\n\\\\t]*$`);var er=/^[\\p{Zs}\\\\]/u;function rr(t,e){return t.replace(Xe(),(r,n)=>n?" +
  "?(e.test(r)?r:tr(r)))}function tr(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function T(t){return Qe.te" +
  "st(t)?t:rr(t,er)}var nr=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym S" +
  "inh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Hani\",\"B" +
  "opo\"],[\"Latn\",\"Hani\",\"Hang\"]],Sr=he(()=>{let t=nr.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new RegExp" +
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
  "ition,334,\"ChannelError\"),successor_needed:a(409,s.failedPrecondition,335,\"ChannelError\"),content_invalid:a(40" +
  "0,s.invalidArgument,352,\"ChannelError\"),request_timeout:p(504,s.deadlineExceeded,353,\"TransportError\"),remote_" +
  "error:a(502,s.aborted,354,\"RemoteError\"),store_locked:p(409,s.failedPrecondition,336,\"StoreError\"),store_corru" +
  "pt:a(500,s.internal,337,\"StoreError\"),store_full:a(507,s.resourceExhausted,340,\"StoreError\"),store_failed:a(50" +
  "0,s.internal,339,\"StoreError\"),passphrase_wrong:a(401,s.unauthenticated,338,\"StoreError\")};function U(t){retur" +
  "n Object.hasOwn(M,t)}var Ur=new Map(Object.entries(M).flatMap(([t,{close:e}])=>U(t)?[[e,t]]:[])),y=class exten" +
  "ds Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(T(r),n.cause===void 0?void 0:{cause:n.cau" +
  "se}),this.code=e,this.requestId=n.requestId}};var g=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellByt" +
  "es:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:20" +
  "97152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth" +
  ":6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,ans" +
  "wersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:1" +
  "6,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256," +
  "tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:" +
  "63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conve" +
  "rsationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64" +
  ",contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs" +
  ":3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCove" +
  "rIntervalMs:36e5});var E=3,f=4,O=2,G={control:0,data:1};function H(t){if(!Number.isInteger(t)||t<g.minCellByte" +
  "s||t>g.maxCellBytes)throw new y(\"protocol_error\",`A cell has ${g.minCellBytes} to ${g.maxCellBytes} bytes, not" +
  " ${t}`);return t}function $(t){if(t===0||t>g.envelopeBytes)throw new y(\"payload_too_large\",`Cannot send an env" +
  "elope of ${t} bytes; 1 to ${g.envelopeBytes} are allowed`)}var R=class{#r;#e=[];#t=[];#o=[0,0];#n=0;constructo" +
  "r(e){this.#r=H(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelop" +
  "es are waiting\");this.#r=H(e)}get cellBytes(){return this.#r}get pendingBytes(){return this.#n}push(e,r){$(r.l" +
  "ength),(e===\"control\"?this.#e:this.#t).push(r),this.#n+=r.length+f}next(e){let r=this.#e.length>0?G.control:G." +
  "data,n=r===G.control?this.#e:this.#t;if(n.length===0)return;let o=e?.length===this.#r?e:new Uint8Array(this.#r" +
  ");return this.#i(o,n,r),o}#i(e,r,n){let o=E,i=0,l=this.#o[n]??0;for(let m of r){if(l===0){if(e.length-o<=f)bre" +
  "ak;or(e,o,m.length),o+=f,l=f}let d=l-f,u=m.subarray(d,d+e.length-o);if(e.set(u,o),o+=u.length,l+=u.length,l-f<" +
  "m.length)break;i++,l=0}let h=o-E;i===1?r.shift():r.splice(0,i),this.#o[n]=l,this.#n-=h,e[0]=n,e[1]=h>>8,e[2]=h" +
  "&255,e.fill(0,o)}};function J(t,e,r){let n=e+O;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.leng" +
  "th}function or(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var ir=64*1024,ye=.5,sr=2,I=class{#r;#e;" +
  "#t=[];#o=0;#n=0;#i=new Uint8Array(0);#s=\"off\";#a=0;#u;#p=0;#d=!0;#l=!1;#h=!1;#c=!1;#y=new Set;#f={cells:0,cove" +
  "rCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#r=e,this.#e=new R(e.cellBytes)}get pendingBytes(){r" +
  "eturn this.#e.pendingBytes+this.#o+this.#n}get counts(){return{...this.#f}}push(e,r){this.#c||(this.#t.length=" +
  "==0?this.#e.push(e,r):($(r.length),this.#t.push({lane:e,envelope:r}),this.#o+=r.length+f),this.#m())}setCellBy" +
  "tes(e){this.#t.push({cellBytes:H(e)}),this.#A()}configure(e,r){if(!this.#c){if(e!==\"off\"&&!(r>0))throw new Ran" +
  "geError(`Cover needs an interval above 0, not ${r}`);this.#u?.(),this.#u=void 0,this.#s=e,this.#a=r,this.#l=!1" +
  ",this.#p=this.#r.nowMs(),e!==\"off\"&&this.#E(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#c?Prom" +
  "ise.resolve(this.pendingBytes===0):!this.#h&&this.pendingBytes===0?Promise.resolve(!0):new Promise(r=>{let n=i" +
  "=>{this.#y.delete(n),o(),r(i)},o=this.#r.after(e,()=>n(!1));this.#y.add(n)})}stop(){this.#c=!0,this.#u?.(),thi" +
  "s.#u=void 0,this.#i=new Uint8Array(0);for(let e of this.#y)e(!1)}#m(){this.#h||this.#c||!this.#x()||(this.#h=!" +
  "0,this.#C())}#x(){return this.#l||this.#s!==\"constant\"&&this.#e.pendingBytes>0}async#C(){await void 0;try{for(" +
  ";!this.#c&&this.#x();){let e=this.#s===\"constant\"?this.#B():this.#S();if(await this.#r.write(e,this.#e.cellByt" +
  "es),this.#n=0,this.#c)break;this.#A(),this.#r.onWritten?.()}}catch(e){this.#n=0;let r=this.#c;this.stop(),r||t" +
  "his.#r.onFailed?.(e)}this.#h=!1,this.#_()}#_(){if(!(this.#c||this.pendingBytes>0)){this.#i.length>sr*this.#e.c" +
  "ellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#y)e(!0)}}#B(){this.#l=!1;let e=this.#g(1);return this" +
  ".#b(e)?e:this.#v(e)}#S(){let{cellBytes:e,pendingBytes:r}=this.#e;if(r===0)return this.#l=!1,this.#v(this.#g(1)" +
  ");let n=Math.ceil(r/(e-E))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ir/e)))),i=0;for(;i<o.length&&this.#b(" +
  "o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#e.cellBytes;return this.#i.length<r&&(this" +
  ".#i=new Uint8Array(r)),this.#i.subarray(0,r)}#b(e){let r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)retu" +
  "rn!1;let n=r-this.#e.pendingBytes;return this.#n+=n,this.#f.cells++,this.#f.paddingBytes+=e.length-E-n,this.#w" +
  "(e,E+n),!0}#v(e){return this.#f.cells++,this.#f.coverCells++,this.#f.coverBytes+=e.length,this.#w(e.fill(0),E)" +
  ",e}#w(e,r){let{rider:n}=this.#r;if(n!==void 0)for(let o=r;e.length-o>O;){let i=n(e.length-o-O);if(i===void 0)r" +
  "eturn;o=J(e,o,i)}}#E(){let e=this.#r.nowMs();this.#u=this.#r.after(this.#s===\"poisson\"?this.#k():this.#P(e),()" +
  "=>{this.#l=this.#d||this.#s===\"constant\"&&this.#e.pendingBytes>0,this.#E(),this.#m()})}#k(){return-Math.log(1-" +
  "this.#r.random())*this.#a}#P(e){this.#p=ar(this.#p,this.#a,e);let r=this.#r.random()*ye*this.#a;return Math.ma" +
  "x((1-ye)*this.#a,this.#p-r-e)}#A(){for(;this.#e.pendingBytes===0&&this.#t.length>0;){let e=this.#t.findIndex((" +
  "r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBy" +
  "tes=r.cellBytes:(this.#o-=r.envelope.length+f,this.#e.push(r.lane,r.envelope))}}};function ar(t,e,r){if(r<t-e)" +
  "return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}function z(t,e){if(t.length!==e.length)retur" +
  "n!1;let r=0;for(let n=0;n<t.length;n++)r|=(t[n]??0)^(e[n]??0);return r===0}function B(t){let e=[];for(let r=t;" +
  "r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message:String(r);n!==\"" +
  "\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var K=class{#r=new Map;offer(e,r){this.#r.delete(e" +
  "),this.#r.set(e,r)}take(e){for(let[r,n]of this.#r)if(!(n.length>e))return this.#r.delete(r),n}};var dr=2e3;fun" +
  "ction me(t,e){let r,n,o=0,i=new K,l=d=>{t.post({kind:\"written\",takenBytes:o-d.pendingBytes,counts:d.counts})}," +
  "h=async({transport:d,target:u,isTapped:A})=>{let C=e.connectors.find(c=>c.transport===d);if(C===void 0)throw n" +
  "ew Error(`no way to connect by ${d} in a thread of its own`);let P=r=await C.connect(u,new AbortController().s" +
  "ignal),_=n=new I({cellBytes:g.cellBytes,write:(c,w)=>(A&&t.post({kind:\"sent\",cells:c.slice(),cellBytes:w}),P.w" +
  "rite(c,w)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rid" +
  "er:c=>i.take(c),onWritten:()=>l(_),onFailed:()=>t.post({kind:\"failed\"})});P.closed.then(c=>t.post({kind:\"close" +
  "d\",end:c})),t.post({kind:\"connected\"})},m=async()=>{let d=await r?.read();t.post({kind:\"chunk\",bytes:d?.slice(" +
  ")})};t.listen(d=>{switch(d.kind){case\"connect\":return void h(d).catch(u=>t.post({kind:\"refused\",message:B(u)})" +
  ");case\"push\":return o+=d.envelope.length+f,n?.push(d.lane,d.envelope);case\"offer\":return i.offer(d.key,d.envel" +
  "ope);case\"cellBytes\":return n?.setCellBytes(d.cellBytes);case\"configure\":return n?.configure(d.mode,d.interval" +
  "Ms);case\"covering\":return n?.setCovering(d.covering);case\"flush\":return void n?.flush(d.timeoutMs).then(u=>{t." +
  "post({kind:\"flushed\",id:d.id,flushed:u})});case\"read\":return void m();case\"stop\":return n?.stop();case\"close\":" +
  "return r?.close(d.closeCode),void e.after(dr,e.exit)}})}var v=require(\"node:http2\");function D({host:t,port:e}" +
  "){return`${t.includes(\":\")?`[${t}]`:t}:${e}`}var b=class extends Error{name=\"StaticError\";code;retryable;retry" +
  "AfterMs;epoch;channel;unreachable;members;constructor(e,r,n={}){super(T(r),n.cause===void 0?void 0:{cause:n.ca" +
  "use}),this.code=e,this.retryable=n.retryable??M[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epo" +
  "ch,this.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}},L=class extends b{name=\"Tran" +
  "sportError\"},Y=class extends L{name=\"UnavailableError\"},Z=class extends L{name=\"InternalError\"},X=class extend" +
  "s b{name=\"AuthError\"},N=class extends b{name=\"ChannelError\"},Q=class extends N{name=\"RemovedError\";by;atMs;con" +
  "structor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},ee=class extends b{name=\"QuotaExceededError\"}," +
  "re=class extends b{name=\"MlsError\"},te=class extends b{name=\"InvalidArgumentError\"},ne=class extends b{name=\"S" +
  "toreError\"},oe=class extends b{name=\"RemoteError\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){su" +
  "per(\"remote_error\",e,n),this.remoteCode=r}};function x(t){return(e,r,n)=>new t(e,r,n)}var lt={TransportError:x" +
  "(L),AuthError:x(X),ChannelError:x(N),QuotaExceededError:x(ee),MlsError:x(re),InvalidArgumentError:x(te),StoreE" +
  "rror:x(ne),UnavailableError:x(Y),RemovedError:x(Q),RemoteError:(t,e,r)=>new oe(e,r),InternalError:x(Z)};functi" +
  "on ge(t,e){return e!==void 0&&U(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}var S=5,lr=64*1024,xe=" +
  "10,ie=new TextDecoder;function be(t,e){let r=cr(xe,e),n=S+r.length+e,o=new Uint8Array(t.length/e*n);for(let i=" +
  "0;i<t.length/e;i++){let l=i*n;ur(o,l+1,r.length+e),o.set(r,l+S),o.set(t.subarray(i*e,(i+1)*e),l+S+r.length)}re" +
  "turn o}function ve(t){let{value:e,end:r}=Ce(t,0,xe);if(r!==t.length)throw new y(\"protocol_error\",\"A cell's mes" +
  "sage holds more than a cell\");return e}function we(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of se" +
  "(t))r===4&&typeof n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:ie.decode(n" +
  ")}),r===2&&(e={...e,message:ie.decode(n)}));return e}function*Ee(t){for(let{field:e,value:r}of se(t)){if(e!==3" +
  "||typeof r==\"number\")continue;let[n,o]=[\"\",new Uint8Array];for(let i of se(r))typeof i.value!=\"number\"&&(i.fie" +
  "ld===1&&(n=ie.decode(i.value).replace(/^.*\\//,\"\")),i.field===2&&(o=i.value.slice()));yield{type:n,value:o}}}va" +
  "r q=class{#r=new Uint8Array(S);#e=0;#t=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;){if(this.#e<S" +
  "){let i=e.subarray(n,n+S-this.#e);if(this.#r.set(i,this.#e),this.#e+=i.length,n+=i.length,this.#e<S)return;thi" +
  "s.#n()}let o=e.subarray(n,n+this.#t.length-this.#o);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#" +
  "t.set(o,this.#o),this.#o+=o.length,this.#o===this.#t.length&&this.#i(this.#t,r))}}#n(){let e=new DataView(this" +
  ".#r.buffer).getUint32(1);if(e===0||e>lr)throw new y(\"protocol_error\",`A message of ${e} bytes where cells are " +
  "expected`);this.#t.length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#i(e,r){this.#e=0,r(this.#r[0]??0,e)}};fu" +
  "nction Ae(t){let e=new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;r" +
  "eturn e}function cr(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8" +
  "Array.from(r)}function Ce(t,e,r){if(t[e]!==r)throw new y(\"protocol_error\",\"A message without the field that it" +
  " must have\");let{value:n,end:o}=_e(t,e+1);if(n>t.length-o)throw Be();return{value:t.subarray(o,o+n),end:o+n}}f" +
  "unction*se(t){for(let e=0;e<t.length;){let r=t[e]??0,{value:n,end:o}=(r&7)===0?_e(t,e+1):Ce(t,e,r&-8|2);yield{" +
  "field:r>>3,value:n},e=o}}function _e(t,e){let r=0;for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){let i=t[o++]?" +
  "?0;if(r+=(i&127)*n,i<128)return{value:r,end:o}}throw Be()}function Be(){return new y(\"protocol_error\",\"A field" +
  " goes beyond the end of its message\")}function ur(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}va" +
  "r pr=\"static.relay.v1.ErrorDetail\";function Se(t,e){try{for(let{type:r,value:n}of Ee(hr(t))){let o=r===pr?fr((" +
  ")=>n):void 0;if(o!==void 0)return o}}catch{}return{message:e}}function ke(t,e,{message:r,...n}){let o=ge(t);if" +
  "(o===void 0)return{message:r};if(n.code!==void 0)return{message:r,...n};let i=typeof e==\"string\"?Number(e)*1e3" +
  ":NaN;return{code:o,message:r,...i>=0&&{retryAfterMs:i}}}function fr(t){try{let{code:e,message:r,retryAfterMs:n" +
  "}=we(t());return U(e)?{code:e,message:r,...n!==void 0&&{retryAfterMs:n}}:void 0}catch{return}}function hr(t){r" +
  "eturn Uint8Array.from(atob(t),e=>e.charCodeAt(0))}var Oe=require(\"node:crypto\"),Ie=require(\"node:net\"),F=requi" +
  "re(\"node:tls\");var Ue=require(\"node:buffer\"),Te=require(\"node:http\"),ae=require(\"node:https\"),k=require(\"node:" +
  "net\"),Me=ue(require(\"node:process\"));function yr(t,e=Me.default.env){let r=Pe(e,\"ALL_PROXY\",\"all_proxy\",\"HTTPS" +
  "_PROXY\",\"https_proxy\");if(r===void 0||mr(t,Pe(e,\"NO_PROXY\",\"no_proxy\")??\"\"))return;let n=r.includes(\"://\")?r:`" +
  "http://${r}`,o=URL.canParse(n)?new URL(n):void 0;if(o?.protocol===\"http:\"||o?.protocol===\"https:\")return o;thr" +
  "ow new Error(\"HTTPS_PROXY or ALL_PROXY is no address of an HTTP proxy; write http://host:port\")}function Pe(t," +
  "...e){return e.map(r=>t[r]).find(r=>r!==void 0&&r!==\"\")}function mr(t,e){return e.split(\",\").map(r=>r.trim().t" +
  "oLowerCase()).some(r=>{if(r===\"\")return!1;if(r===\"*\")return!0;if((0,k.isIP)(t)!==0)return gr(t,r);let n=r.repl" +
  "ace(/^\\./,\"\");return t===n||t.endsWith(`.${n}`)})}function gr(t,e){let[r=\"\",n]=e.replace(/^\\[|\\]$/g,\"\").split(" +
  "\"/\");if((0,k.isIP)(r)!==(0,k.isIP)(t))return!1;let o=(0,k.isIP)(t)===6?\"ipv6\":\"ipv4\",i=new k.BlockList,l=n===v" +
  "oid 0?o===\"ipv6\"?128:32:Number(n);return!Number.isInteger(l)||l<0||l>(o===\"ipv6\"?128:32)?!1:(i.addSubnet(r,l,o" +
  "),i.check(t,o))}async function Re(t,e){let r=yr(t.host);return r&&await xr(t,r,e)}function xr(t,e,r){let n=D(t" +
  "),{protocol:o,hostname:i,port:l,username:h,password:m}=e,d=decodeURIComponent(h),u=Ue.Buffer.from(`${d}:${deco" +
  "deURIComponent(m)}`).toString(\"base64\");return new Promise((A,C)=>{let P=(c,w)=>C(new Error(`the proxy ${e.hos" +
  "t} does not lead to ${n}: ${c}`,{cause:w})),_=(o===\"https:\"?ae.request:Te.request)({host:i.replace(/^\\[|\\]$/g," +
  "\"\"),port:l===\"\"?o===\"https:\"?443:80:Number(l),method:\"CONNECT\",path:n,headers:{host:n,...h!==\"\"&&{\"proxy-autho" +
  "rization\":`Basic ${u}`}},agent:!1,...r&&{signal:r}});_.once(\"connect\",({statusCode:c=0},w,qe)=>{if(w.on(\"error" +
  "\",()=>{}),c===200&&qe.length===0)return A(w);w.destroy(),P(c===200?\"it says more than it was asked\":`HTTP stat" +
  "us ${c}`)}),_.once(\"response\",({statusCode:c})=>{_.destroy(),P(`HTTP status ${c}`)}),_.on(\"error\",c=>r?.aborte" +
  "d?C(r.reason):P(c.message,c)),_.end()})}async function Le(t,e,r){return await br(t,{tunnel:await Re(t,r),proto" +
  "col:e,signal:r})}function br({host:t,port:e,trust:r},{tunnel:n,protocol:o,signal:i}){return new Promise((l,h)=" +
  ">{if(i.aborted)return n?.destroy(),h(i.reason);let m=r.certificateHashes.length>0,d=(0,F.connect)({host:t,port" +
  ":e,...n&&{socket:n},...(0,Ie.isIP)(t)===0&&{servername:t},ALPNProtocols:[o],minVersion:\"TLSv1.3\",...r.caCerts." +
  "length>0&&{ca:[...F.rootCertificates,...r.caCerts]},rejectUnauthorized:!m}),u=C=>{i.removeEventListener(\"abort" +
  "\",A),d.destroy(),h(C)},A=()=>u(i.reason);i.addEventListener(\"abort\",A),d.on(\"error\",u),d.once(\"secureConnect\"," +
  "()=>{if(m&&!vr(d,r))return u(new Error(\"the relay's certificate is none of tls.certificateHashes\"));if(d.alpnP" +
  "rotocol!==o)return u(new Error(`the server does not speak ${o}`));i.removeEventListener(\"abort\",A),l(d)})})}fu" +
  "nction vr(t,{certificateHashes:e}){let r=(0,Oe.createHash)(\"sha256\").update(t.getPeerCertificate().raw).digest" +
  "();return e.some(n=>z(n,r))}var W=class{#r=new Map;#e;#t=1/0;#o=0;after(e,r){let n=Math.ceil((performance.now(" +
  ")+e)/250),o={run:r},i=this.#r.get(n);return i===void 0?this.#r.set(n,new Set([o])):i.add(o),this.#o++,n<this.#" +
  "t?this.#s(n):this.#o===1&&this.#i(!0),()=>{this.#n(n,o)}}#n(e,r){let n=this.#r.get(e);return n===void 0||!n.de" +
  "lete(r)?!1:(n.size===0&&this.#r.delete(e),this.#o--,this.#o===0&&this.#i(!1),!0)}#i(e){typeof this.#e==\"object" +
  "\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeout(this.#e),this.#t=e;let r=Math.max(0,e*250-performance." +
  "now());this.#e=setTimeout(()=>this.#a(),Math.min(r,2147483647))}#a(){this.#e=void 0,this.#t=1/0;let e=performa" +
  "nce.now(),r=1/0;for(let[n,o]of this.#r)if(n*250>e)r=Math.min(r,n);else for(let i of o)queueMicrotask(()=>this." +
  "#n(n,i)&&i.run());r<1/0&&this.#s(r)}};function He(){return Date.now()}var wr=5e3,Er=new W;function j(t,e){if(t" +
  ">=wr)return Er.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function $e(t){return crypto.getRand" +
  "omValues(new Uint8Array(t))}var Ke=1024*1024,Ar=1500,De={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connec" +
  "t:async(t,e)=>new de(await Le(t,\"h2\",e),t)},de=class{#r;#e;#t;#o=new q;#n;#i=()=>{};#s;closed;constructor(e,r)" +
  "{let n=D(r);this.closed=new Promise(o=>this.#i=o),this.#r=(0,v.connect)(`https://${n}`,{createConnection:()=>e" +
  ",settings:{initialWindowSize:Ke,enablePush:!1}}),this.#r.once(\"connect\",()=>this.#r.setLocalWindowSize(Ke)),th" +
  "is.#r.on(\"error\",o=>this.#d({message:B(o)})),this.#r.on(\"goaway\",()=>this.#r.close()),this.#e=this.#r.request(" +
  "{[v.constants.HTTP2_HEADER_METHOD]:\"POST\",[v.constants.HTTP2_HEADER_AUTHORITY]:n,[v.constants.HTTP2_HEADER_PAT" +
  "H]:\"/static.relay.v1.Relay/Session\",[v.constants.HTTP2_HEADER_CONTENT_TYPE]:\"application/grpc\",[v.constants.HT" +
  "TP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({message:B(o)})),this.#e.on(\"response\",o=>this.#u(o)" +
  "),this.#e.on(\"trailers\",o=>this.#p(o)),this.#e.on(\"close\",()=>{this.#d({message:\"the connection was cut off\"})" +
  ",this.#l()}),this.#t=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done:e,value:r}=await this.#" +
  "t.next();if(e)break;let n=[];if(this.#o.read(r,(o,i)=>{if(o!==0)throw new Error(\"compressed cells were not ask" +
  "ed for\");n.push(ve(i).slice())}),n.length>0)return Ae(n)}}catch(e){this.#d({message:B(e)})}this.#a()}write(e,r" +
  "){return new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));this.#e.write(be(e,r),i=" +
  ">{if(!i)return n();this.#d({message:B(i)}),o(i)})})}close(e){this.#i({message:\"it was closed by this side\"}),e" +
  "===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=j(Ar,()=>this.#l())}#u(e){let r=e[v.constants.HTTP2_HEAD" +
  "ER_STATUS];if(r!==200){let n=`The relay returned HTTP status ${String(r)} for Session`;return this.#d(ke(r,e[\"" +
  "retry-after\"],{message:n}))}e[\"grpc-status\"]!==void 0&&this.#p(e)}#p(e){let{\"grpc-status\":r,\"grpc-message\":n,\"" +
  "grpc-status-details-bin\":o}=e,i=typeof n==\"string\"&&n!==\"\"?Cr(n):\"the relay ended the stream\";if(r===\"0\")retur" +
  "n this.#d({message:\"the relay ended the stream\"});this.#d(Se(typeof o==\"string\"?o:\"\",i))}#d(e){this.#n===void " +
  "0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()=>{},this.#n??={message:\"it was closed by this " +
  "side\"},this.#e.destroy(),this.#r.destroy()}};function Cr(t){try{return decodeURIComponent(t).slice(0,1024)}cat" +
  "ch{return t.slice(0,1024)}}me({post:t=>le.parentPort?.postMessage(t),listen:t=>{le.parentPort?.on(\"message\",t)" +
  "}},{connectors:[De],nowMs:He,after:j,randomBytes:$e,exit:()=>Ne.default.exit()});\n";
