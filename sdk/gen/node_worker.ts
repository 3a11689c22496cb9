/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var Re=Object.create;var se=Object.defineProperty;var Oe=Object.getOwnPropertyDescriptor;var Ie=Object.getOwnP" +
  "ropertyNames;var Le=Object.getPrototypeOf,Ke=Object.prototype.hasOwnProperty;var He=(t,e,r,n)=>{if(e&&typeof e" +
  "==\"object\"||typeof e==\"function\")for(let o of Ie(e))!Ke.call(t,o)&&o!==r&&se(t,o,{get:()=>e[o],enumerable:!(n=" +
  "Oe(e,o))||n.enumerable});return t};var $e=(t,e,r)=>(r=t!=null?Re(Le(t)):{},He(e||!t||!t.__esModule?se(r,\"defau" +
  "lt\",{value:t,enumerable:!0}):r,t));var Me=$e(require(\"node:process\")),te=require(\"node:worker_threads\");functi" +
  "on le(t){let e;return()=>e??=t()}var ae=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",de=\"\\\\p{Extended_Pic" +
  "tographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",De=[`${de}(?:\\\\u200d${de})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${ae})[\\\\u2" +
  "00c\\\\u200d](?=${ae})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1,4}\"].j" +
  "oin(\"|\"),Fe=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",We=\"(?! )\\\\p{Zs}|^ |(?<= ) | " +
  "$|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",Ne=le(()=>new RegExp(`(${De})|[${Fe}]|${We}`,\"gu\")),D=\"!-[\\\\]-~\\\\u00a1-\\\\u00ac\\\\u0" +
  "0ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",qe=new RegExp(`^[${D}]+(?: [${D}]+)*$`" +
  "),hr=new RegExp(`^[${D} \\\\\\\\\\\\n\\\\t]*$`);var je=/^[\\p{Zs}\\\\]/u;function Ve(t,e){return t.replace(Ne(),(r,n)=>n?" +
  "?(e.test(r)?r:Ge(r)))}function Ge(t){return`\\\\u{${t.codePointAt(0)?.toString(16)}}`}function B(t){return qe.te" +
  "st(t)?t:Ve(t,je)}var Je=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym S" +
  "inh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(t=>[t]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Hani\",\"B" +
  "opo\"],[\"Latn\",\"Hani\",\"Hang\"]],fr=le(()=>{let t=Je.map(e=>e.map(r=>`\\\\p{scx=${r}}`).join(\"\"));return new RegExp" +
  "(t.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var i={invalidArgument:3,deadlineExceeded:4,no" +
  "tFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRange:11," +
  "unimplemented:12,internal:13,unavailable:14,unauthenticated:16},a=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClas" +
  "s:n,retryable:!1}),u=(...t)=>({...a(...t),retryable:!0}),_={join_timeout:u(504,i.deadlineExceeded,257,\"Transpo" +
  "rtError\"),auth_failed:a(401,i.unauthenticated,258,\"AuthError\"),auth_key_invalid:a(401,i.unauthenticated,259,\"A" +
  "uthError\"),transport_error:u(502,i.unavailable,260,\"TransportError\"),connection_error:u(502,i.unavailable,261," +
  "\"TransportError\"),listener_died:a(500,i.internal,262,\"TransportError\"),channel_error:a(400,i.invalidArgument,2" +
  "63,\"ChannelError\"),quota_exceeded:a(429,i.resourceExhausted,264,\"QuotaExceededError\"),mls_error:a(409,i.failed" +
  "Precondition,265,\"MlsError\"),invalid_request:a(400,i.invalidArgument,272,\"InvalidArgumentError\"),not_found:a(4" +
  "04,i.notFound,273,\"ChannelError\"),method_not_allowed:a(405,i.unimplemented,274,\"InvalidArgumentError\"),payload" +
  "_too_large:a(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:a(415,i.invalidArgument,276,\"" +
  "InvalidArgumentError\"),rate_limited:u(429,i.resourceExhausted,277,\"UnavailableError\"),internal:a(500,i.interna" +
  "l,278,\"InternalError\"),overloaded:u(503,i.unavailable,279,\"UnavailableError\"),email_taken:a(409,i.alreadyExist" +
  "s,288,\"AuthError\"),key_limit_reached:a(409,i.resourceExhausted,289,\"AuthError\"),account_suspended:a(403,i.perm" +
  "issionDenied,290,\"AuthError\"),conflict:a(409,i.aborted,291,\"AuthError\"),code_invalid:a(400,i.invalidArgument,2" +
  "92,\"AuthError\"),csrf_failed:a(403,i.permissionDenied,293,\"AuthError\"),protocol_error:a(400,i.invalidArgument,3" +
  "04,\"TransportError\"),unsupported_version:a(400,i.failedPrecondition,305,\"TransportError\"),unknown_operation:a(" +
  "404,i.unimplemented,306,\"TransportError\"),session_expired:a(401,i.unauthenticated,307,\"AuthError\"),session_rep" +
  "laced:a(409,i.aborted,308,\"TransportError\"),slow_reader:u(429,i.resourceExhausted,309,\"UnavailableError\"),rela" +
  "y_draining:u(503,i.unavailable,310,\"UnavailableError\"),certificate_changed:a(502,i.failedPrecondition,311,\"Tra" +
  "nsportError\"),name_taken:a(409,i.alreadyExists,320,\"ChannelError\"),epoch_conflict:u(409,i.aborted,321,\"MlsErro" +
  "r\"),not_allowed:a(403,i.permissionDenied,322,\"ChannelError\"),member_limit_reached:a(409,i.resourceExhausted,32" +
  "3,\"ChannelError\"),already_member:a(409,i.alreadyExists,324,\"ChannelError\"),identity_present:a(409,i.alreadyExi" +
  "sts,356,\"ChannelError\"),queue_full:u(429,i.resourceExhausted,325,\"ChannelError\"),cursor_invalid:a(416,i.outOfR" +
  "ange,326,\"ChannelError\"),key_package_invalid:a(400,i.invalidArgument,327,\"MlsError\"),key_package_missing:u(404" +
  ",i.failedPrecondition,328,\"MlsError\"),join_rejected:a(403,i.permissionDenied,329,\"ChannelError\"),membership_la" +
  "psed:a(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:a(409,i.failedPrecondition,331,\"MlsError\")," +
  "storage_full:u(507,i.resourceExhausted,332,\"ChannelError\"),link_invalid:a(400,i.invalidArgument,333,\"InvalidAr" +
  "gumentError\"),removed:a(410,i.failedPrecondition,355,\"RemovedError\"),members_must_update:a(409,i.failedPrecond" +
  "ition,334,\"ChannelError\"),successor_needed:a(409,i.failedPrecondition,335,\"ChannelError\"),content_invalid:a(40" +
  "0,i.invalidArgument,352,\"ChannelError\"),request_timeout:u(504,i.deadlineExceeded,353,\"TransportError\"),remote_" +
  "error:a(502,i.aborted,354,\"RemoteError\"),store_locked:u(409,i.failedPrecondition,336,\"StoreError\"),store_corru" +
  "pt:a(500,i.internal,337,\"StoreError\"),store_failed:a(500,i.internal,339,\"StoreError\"),passphrase_wrong:a(401,i" +
  ".unauthenticated,338,\"StoreError\")};function C(t){return Object.hasOwn(_,t)}var mr=new Map(Object.entries(_).f" +
  "latMap(([t,{close:e}])=>C(t)?[[e,t]]:[])),p=class extends Error{name=\"WireError\";code;requestId;constructor(e," +
  "r,n={}){super(B(r),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var y=Obj" +
  "ect.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,k" +
  "eyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envel" +
  "opeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCom" +
  "mit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:" +
  "64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,unconfi" +
  "rmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,er" +
  "rorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsByt" +
  "es:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameByt" +
  "es:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:6710" +
  "8864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,k" +
  "eyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var v=3,f=4,k=2,F={control:0,data:1}" +
  ";function M(t){if(!Number.isInteger(t)||t<y.minCellBytes||t>y.maxCellBytes)throw new p(\"protocol_error\",`A cel" +
  "l has ${y.minCellBytes} to ${y.maxCellBytes} bytes, not ${t}`);return t}function T(t){if(t===0||t>y.envelopeBy" +
  "tes)throw new p(\"payload_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${y.envelopeBytes} are allowe" +
  "d`)}var S=class{#r;#e=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#r=M(e)}set cellBytes(e){if(this.#n>0)throw n" +
  "ew TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#r=M(e)}get cellBytes(){return th" +
  "is.#r}get pendingBytes(){return this.#n}push(e,r){T(r.length),(e===\"control\"?this.#e:this.#t).push(r),this.#n+" +
  "=r.length+f}next(e){let r=this.#e.length>0?F.control:F.data,n=r===F.control?this.#e:this.#t;if(n.length===0)re" +
  "turn;let o=e?.length===this.#r?e:new Uint8Array(this.#r);return this.#i(o,n,r),o}#i(e,r,n){let o=v,s=0,l=this." +
  "#o[n]??0;for(let h of r){if(l===0){if(e.length-o<=f)break;ze(e,o,h.length),o+=f,l=f}let d=l-f,c=h.subarray(d,d" +
  "+e.length-o);if(e.set(c,o),o+=c.length,l+=c.length,l-f<h.length)break;s++,l=0}let x=o-v;s===1?r.shift():r.spli" +
  "ce(0,s),this.#o[n]=l,this.#n-=x,e[0]=n,e[1]=x>>8,e[2]=x&255,e.fill(0,o)}};function W(t,e,r){let n=e+k;return t" +
  ".set(r,n),t[e]=r.length>>8,t[e+1]=r.length&255,n+r.length}function ze(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=" +
  "r>>>8,t[e+3]=r}var Ze=64*1024,ce=.5,Qe=2,U=class{#r;#e;#t=[];#o=0;#n=0;#i=new Uint8Array(0);#s=\"off\";#a=0;#u;#" +
  "h=0;#d=!0;#l=!1;#p=!1;#c=!1;#y=new Set;#f={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){th" +
  "is.#r=e,this.#e=new S(e.cellBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get counts()" +
  "{return{...this.#f}}push(e,r){this.#c||(this.#t.length===0?this.#e.push(e,r):(T(r.length),this.#t.push({lane:e" +
  ",envelope:r}),this.#o+=r.length+f),this.#m())}setCellBytes(e){this.#t.push({cellBytes:M(e)}),this.#A()}configu" +
  "re(e,r){if(!this.#c){if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);th" +
  "is.#u?.(),this.#u=void 0,this.#s=e,this.#a=r,this.#l=!1,this.#h=this.#r.nowMs(),e!==\"off\"&&this.#w(),this.#m()" +
  "}}setCovering(e){this.#d=e}flush(e){return this.#c?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendi" +
  "ngBytes===0?Promise.resolve(!0):new Promise(r=>{let n=s=>{this.#y.delete(n),o(),r(s)},o=this.#r.after(e,()=>n(" +
  "!1));this.#y.add(n)})}stop(){this.#c=!0,this.#u?.(),this.#u=void 0,this.#i=new Uint8Array(0);for(let e of this" +
  ".#y)e(!1)}#m(){this.#p||this.#c||!this.#x()||(this.#p=!0,this.#C())}#x(){return this.#l||this.#s!==\"constant\"&" +
  "&this.#e.pendingBytes>0}async#C(){await void 0;try{for(;!this.#c&&this.#x();){let e=this.#s===\"constant\"?this." +
  "#_():this.#S();if(await this.#r.write(e,this.#e.cellBytes),this.#n=0,this.#c)break;this.#A(),this.#r.onWritten" +
  "?.()}}catch(e){this.#n=0;let r=this.#c;this.stop(),r||this.#r.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(thi" +
  "s.#c||this.pendingBytes>0)){this.#i.length>Qe*this.#e.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this" +
  ".#y)e(!0)}}#_(){this.#l=!1;let e=this.#g(1);return this.#b(e)?e:this.#v(e)}#S(){let{cellBytes:e,pendingBytes:r" +
  "}=this.#e;if(r===0)return this.#l=!1,this.#v(this.#g(1));let n=Math.ceil(r/(e-v))+1,o=this.#g(Math.min(n,Math." +
  "max(1,Math.floor(Ze/e)))),s=0;for(;s<o.length&&this.#b(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){l" +
  "et r=e*this.#e.cellBytes;return this.#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#b(e){let " +
  "r=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=r-this.#e.pendingBytes;return this.#n+=n,thi" +
  "s.#f.cells++,this.#f.paddingBytes+=e.length-v-n,this.#E(e,v+n),!0}#v(e){return this.#f.cells++,this.#f.coverCe" +
  "lls++,this.#f.coverBytes+=e.length,this.#E(e.fill(0),v),e}#E(e,r){let{rider:n}=this.#r;if(n!==void 0)for(let o" +
  "=r;e.length-o>k;){let s=n(e.length-o-k);if(s===void 0)return;o=W(e,o,s)}}#w(){let e=this.#r.nowMs();this.#u=th" +
  "is.#r.after(this.#s===\"poisson\"?this.#k():this.#U(e),()=>{this.#l=this.#d||this.#s===\"constant\"&&this.#e.pendi" +
  "ngBytes>0,this.#w(),this.#m()})}#k(){return-Math.log(1-this.#r.random())*this.#a}#U(e){this.#h=Ye(this.#h,this" +
  ".#a,e);let r=this.#r.random()*ce*this.#a;return Math.max((1-ce)*this.#a,this.#h-r-e)}#A(){for(;this.#e.pending" +
  "Bytes===0&&this.#t.length>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice" +
  "(0,e<0?this.#t.length:e))\"cellBytes\"in r?this.#e.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+f,this.#e.p" +
  "ush(r.lane,r.envelope))}}};function Ye(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return" +
  " t+(n+1)*e}function N(t,e){if(t.length!==e.length)return!1;let r=0;for(let n=0;n<t.length;n++)r|=(t[n]??0)^(e[" +
  "n]??0);return r===0}function w(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:voi" +
  "d 0){let n=r instanceof Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\"" +
  ": \")}var R=class{#r=new Map;offer(e,r){this.#r.delete(e),this.#r.set(e,r)}take(e){for(let[r,n]of this.#r)if(!(" +
  "n.length>e))return this.#r.delete(r),n}};var Xe=2e3;function ue(t,e){let r,n,o=0,s=new R,l=d=>{t.post({kind:\"w" +
  "ritten\",takenBytes:o-d.pendingBytes,counts:d.counts})},x=async({transport:d,target:c,isTapped:$})=>{let ne=e.c" +
  "onnectors.find(b=>b.transport===d);if(ne===void 0)throw new Error(`no way to connect by ${d} in a thread of it" +
  "s own`);let oe=r=await ne.connect(c,new AbortController().signal),Te=n=new U({cellBytes:y.cellBytes,write:(b,i" +
  "e)=>($&&t.post({kind:\"sent\",cells:b.slice(),cellBytes:ie}),oe.write(b,ie)),after:e.after,nowMs:e.nowMs,random:" +
  "()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:b=>s.take(b),onWritten:()=>l(Te),onFailed:(" +
  ")=>t.post({kind:\"failed\"})});oe.closed.then(b=>t.post({kind:\"closed\",end:b})),t.post({kind:\"connected\"})},h=as" +
  "ync()=>{let d=await r?.read();t.post({kind:\"chunk\",bytes:d?.slice()})};t.listen(d=>{switch(d.kind){case\"connec" +
  "t\":return void x(d).catch(c=>t.post({kind:\"refused\",message:w(c)}));case\"push\":return o+=d.envelope.length+f,n" +
  "?.push(d.lane,d.envelope);case\"offer\":return s.offer(d.key,d.envelope);case\"cellBytes\":return n?.setCellBytes(" +
  "d.cellBytes);case\"configure\":return n?.configure(d.mode,d.intervalMs);case\"covering\":return n?.setCovering(d.c" +
  "overing);case\"flush\":return void n?.flush(d.timeoutMs).then(c=>{t.post({kind:\"flushed\",id:d.id,flushed:c})});c" +
  "ase\"read\":return void h();case\"stop\":return n?.stop();case\"close\":return r?.close(d.closeCode),void e.after(Xe" +
  ",e.exit)}})}var E=require(\"node:http2\");var g=class extends Error{name=\"StaticError\";code;retryable;retryAfter" +
  "Ms;epoch;channel;unreachable;members;constructor(e,r,n={}){super(B(r),n.cause===void 0?void 0:{cause:n.cause})" +
  ",this.code=e,this.retryable=n.retryable??_[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,th" +
  "is.channel=n.channel,this.unreachable=n.unreachable,this.members=n.members}},P=class extends g{name=\"Transport" +
  "Error\"},q=class extends P{name=\"UnavailableError\"},j=class extends P{name=\"InternalError\"},V=class extends g{n" +
  "ame=\"AuthError\"},O=class extends g{name=\"ChannelError\"},G=class extends O{name=\"RemovedError\";by;atMs;construc" +
  "tor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n.atMs}},J=class extends g{name=\"QuotaExceededError\"},z=clas" +
  "s extends g{name=\"MlsError\"},Z=class extends g{name=\"InvalidArgumentError\"},Q=class extends g{name=\"StoreError" +
  "\"},Y=class extends g{name=\"RemoteError\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remot" +
  "e_error\",e,n),this.remoteCode=r}};function m(t){return(e,r,n)=>new t(e,r,n)}var Jr={TransportError:m(P),AuthEr" +
  "ror:m(V),ChannelError:m(O),QuotaExceededError:m(J),MlsError:m(z),InvalidArgumentError:m(Z),StoreError:m(Q),Una" +
  "vailableError:m(q),RemovedError:m(G),RemoteError:(t,e,r)=>new Y(e,r),InternalError:m(j)};function he(t,e){retu" +
  "rn e!==void 0&&C(e)?e:t===429?\"rate_limited\":t===503?\"overloaded\":void 0}var A=5,er=64*1024,fe=10,X=new TextDe" +
  "coder;function pe(t,e){let r=rr(fe,e),n=A+r.length+e,o=new Uint8Array(t.length/e*n);for(let s=0;s<t.length/e;s" +
  "++){let l=s*n;tr(o,l+1,r.length+e),o.set(r,l+A),o.set(t.subarray(s*e,(s+1)*e),l+A+r.length)}return o}function " +
  "ye(t){let{value:e,end:r}=be(t,0,fe);if(r!==t.length)throw new p(\"protocol_error\",\"A cell's message holds more " +
  "than a cell\");return e}function me(t){let e={code:\"\",message:\"\"};for(let{field:r,value:n}of ee(t))r===4&&typeo" +
  "f n==\"number\"&&(e={...e,retryAfterMs:n}),typeof n!=\"number\"&&(r===1&&(e={...e,code:X.decode(n)}),r===2&&(e={.." +
  ".e,message:X.decode(n)}));return e}function*ge(t){for(let{field:e,value:r}of ee(t)){if(e!==3||typeof r==\"numbe" +
  "r\")continue;let[n,o]=[\"\",new Uint8Array];for(let s of ee(r))typeof s.value!=\"number\"&&(s.field===1&&(n=X.decod" +
  "e(s.value).replace(/^.*\\//,\"\")),s.field===2&&(o=s.value.slice()));yield{type:n,value:o}}}var I=class{#r=new Ui" +
  "nt8Array(A);#e=0;#t=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;){if(this.#e<A){let s=e.subarray(" +
  "n,n+A-this.#e);if(this.#r.set(s,this.#e),this.#e+=s.length,n+=s.length,this.#e<A)return;this.#n()}let o=e.suba" +
  "rray(n,n+this.#t.length-this.#o);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#o),th" +
  "is.#o+=o.length,this.#o===this.#t.length&&this.#i(this.#t,r))}}#n(){let e=new DataView(this.#r.buffer).getUint" +
  "32(1);if(e===0||e>er)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t." +
  "length!==e&&(this.#t=new Uint8Array(e)),this.#o=0}#i(e,r){this.#e=0,r(this.#r[0]??0,e)}};function xe(t){let e=" +
  "new Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function rr" +
  "(t,e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}funct" +
  "ion be(t,e,r){if(t[e]!==r)throw new p(\"protocol_error\",\"A message without the field that it must have\");let{va" +
  "lue:n,end:o}=ve(t,e+1);if(n>t.length-o)throw Ee();return{value:t.subarray(o,o+n),end:o+n}}function*ee(t){for(l" +
  "et e=0;e<t.length;){let r=t[e]??0,{value:n,end:o}=(r&7)===0?ve(t,e+1):be(t,e,r&-8|2);yield{field:r>>3,value:n}" +
  ",e=o}}function ve(t,e){let r=0;for(let[n,o]=[1,e];o<t.length&&n<2**63;n*=128){let s=t[o++]??0;if(r+=(s&127)*n," +
  "s<128)return{value:r,end:o}}throw Ee()}function Ee(){return new p(\"protocol_error\",\"A field goes beyond the en" +
  "d of its message\")}function tr(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var nr=\"static.relay." +
  "v1.ErrorDetail\";function we(t,e){try{for(let{type:r,value:n}of ge(ir(t))){let o=r===nr?or(()=>n):void 0;if(o!=" +
  "=void 0)return o}}catch{}return{message:e}}function Ae(t,e,{message:r,...n}){let o=he(t);if(o===void 0)return{" +
  "message:r};if(n.code!==void 0)return{message:r,...n};let s=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o," +
  "message:r,...s>=0&&{retryAfterMs:s}}}function or(t){try{let{code:e,message:r,retryAfterMs:n}=me(t());return C(" +
  "e)?{code:e,message:r,...n!==void 0&&{retryAfterMs:n}}:void 0}catch{return}}function ir(t){return Uint8Array.fr" +
  "om(atob(t),e=>e.charCodeAt(0))}var Ce=require(\"node:crypto\"),Be=require(\"node:net\"),L=require(\"node:tls\");func" +
  "tion _e({host:t,port:e,trust:r},n,o){return new Promise((s,l)=>{o.throwIfAborted();let x=r.certificateHashes.l" +
  "ength>0,h=(0,L.connect)({host:t,port:e,...(0,Be.isIP)(t)===0&&{servername:t},ALPNProtocols:[n],minVersion:\"TLS" +
  "v1.3\",...r.caCerts.length>0&&{ca:[...L.rootCertificates,...r.caCerts]},rejectUnauthorized:!x}),d=$=>{o.removeE" +
  "ventListener(\"abort\",c),h.destroy(),l($)},c=()=>d(o.reason);o.addEventListener(\"abort\",c),h.on(\"error\",d),h.on" +
  "ce(\"secureConnect\",()=>{if(x&&!sr(h,r))return d(new Error(\"the relay's certificate is none of tls.certificateH" +
  "ashes\"));if(h.alpnProtocol!==n)return d(new Error(`the server does not speak ${n}`));o.removeEventListener(\"ab" +
  "ort\",c),s(h)})})}function sr(t,{certificateHashes:e}){let r=(0,Ce.createHash)(\"sha256\").update(t.getPeerCertif" +
  "icate().raw).digest();return e.some(n=>N(n,r))}var K=class{#r=new Map;#e;#t=1/0;#o=0;after(e,r){let n=Math.cei" +
  "l((performance.now()+e)/250),o={run:r},s=this.#r.get(n);return s===void 0?this.#r.set(n,new Set([o])):s.add(o)" +
  ",this.#o++,n<this.#t?this.#s(n):this.#o===1&&this.#i(!0),()=>{this.#n(n,o)}}#n(e,r){let n=this.#r.get(e);retur" +
  "n n===void 0||!n.delete(r)?!1:(n.size===0&&this.#r.delete(e),this.#o--,this.#o===0&&this.#i(!1),!0)}#i(e){type" +
  "of this.#e==\"object\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeout(this.#e),this.#t=e;let r=Math.max(0" +
  ",e*250-performance.now());this.#e=setTimeout(()=>this.#a(),Math.min(r,2147483647))}#a(){this.#e=void 0,this.#t" +
  "=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#r)if(n*250>e)r=Math.min(r,n);else for(let s of o)queue" +
  "Microtask(()=>this.#n(n,s)&&s.run());r<1/0&&this.#s(r)}};function Se(){return Date.now()}var ar=5e3,dr=new K;f" +
  "unction H(t,e){if(t>=ar)return dr.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function ke(t){re" +
  "turn crypto.getRandomValues(new Uint8Array(t))}var Ue=1024*1024,lr=1500,Pe={transport:\"grpc\",carrier:\"tcp\",unu" +
  "sable:()=>{},connect:async(t,e)=>new re(await _e(t,\"h2\",e),t)},re=class{#r;#e;#t;#o=new I;#n;#i=()=>{};#s;clos" +
  "ed;constructor(e,{host:r,port:n}){this.closed=new Promise(o=>this.#i=o),this.#r=(0,E.connect)(`https://${r.inc" +
  "ludes(\":\")?`[${r}]`:r}:${n}`,{createConnection:()=>e,settings:{initialWindowSize:Ue,enablePush:!1}}),this.#r.o" +
  "nce(\"connect\",()=>this.#r.setLocalWindowSize(Ue)),this.#r.on(\"error\",o=>this.#d({message:w(o)})),this.#r.on(\"g" +
  "oaway\",()=>this.#r.close()),this.#e=this.#r.request({[E.constants.HTTP2_HEADER_METHOD]:\"POST\",[E.constants.HTT" +
  "P2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[E.constants.HTTP2_HEADER_CONTENT_TYPE]:\"application/grpc\",[E" +
  ".constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({message:w(o)})),this.#e.on(\"response\"," +
  "o=>this.#u(o)),this.#e.on(\"trailers\",o=>this.#h(o)),this.#e.on(\"close\",()=>{this.#d({message:\"the connection w" +
  "as cut off\"}),this.#l()}),this.#t=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done:e,value:r}" +
  "=await this.#t.next();if(e)break;let n=[];if(this.#o.read(r,(o,s)=>{if(o!==0)throw new Error(\"compressed cells" +
  " were not asked for\");n.push(ye(s).slice())}),n.length>0)return xe(n)}}catch(e){this.#d({message:w(e)})}this.#" +
  "a()}write(e,r){return new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));this.#e.wri" +
  "te(pe(e,r),s=>{if(!s)return n();this.#d({message:w(s)}),o(s)})})}close(e){this.#i({message:\"it was closed by t" +
  "his side\"}),e===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=H(lr,()=>this.#l())}#u(e){let r=e[E.constan" +
  "ts.HTTP2_HEADER_STATUS];if(r!==200){let n=`The relay returned HTTP status ${String(r)} for Session`;return thi" +
  "s.#d(Ae(r,e[\"retry-after\"],{message:n}))}e[\"grpc-status\"]!==void 0&&this.#h(e)}#h(e){let{\"grpc-status\":r,\"grpc" +
  "-message\":n,\"grpc-status-details-bin\":o}=e,s=typeof n==\"string\"&&n!==\"\"?cr(n):\"the relay ended the stream\";if(" +
  "r===\"0\")return this.#d({message:\"the relay ended the stream\"});this.#d(we(typeof o==\"string\"?o:\"\",s))}#d(e){th" +
  "is.#n===void 0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()=>{},this.#n??={message:\"it was cl" +
  "osed by this side\"},this.#e.destroy(),this.#r.destroy()}};function cr(t){try{return decodeURIComponent(t).slic" +
  "e(0,1024)}catch{return t.slice(0,1024)}}ue({post:t=>te.parentPort?.postMessage(t),listen:t=>{te.parentPort?.on" +
  "(\"message\",t)}},{connectors:[Pe],nowMs:Se,after:H,randomBytes:ke,exit:()=>Me.default.exit()});\n";
