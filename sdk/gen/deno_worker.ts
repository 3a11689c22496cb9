/** Built from sdk/platform/deno_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var a={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),h=(...t)=>({...d(...t),retryable:!0}),E={join" +
  "_timeout:h(504,a.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,a.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,a.unauthenticated,259,\"AuthError\"),transport_error:h(502,a.unavailable,260,\"TransportErr" +
  "or\"),connection_error:h(502,a.unavailable,261,\"TransportError\"),listener_died:d(500,a.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,a.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,a.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,a.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,a.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,a.notFound,273,\"ChannelError\"),method_not_allowed:d(405,a.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,a.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,a.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,a.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,a.internal,278,\"InternalError\"),overloaded:h(503,a.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,a.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,a.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,a.permissionDenied,290,\"AuthError\"),conflict:d(409,a.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,a.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,a.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,a.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,a.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,a.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "a.unauthenticated,307,\"AuthError\"),session_replaced:d(409,a.aborted,308,\"TransportError\"),slow_reader:h(429,a." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:h(503,a.unavailable,310,\"UnavailableError\"),certifica" +
  "te_changed:d(502,a.failedPrecondition,311,\"TransportError\"),name_taken:d(409,a.alreadyExists,320,\"ChannelError" +
  "\"),epoch_conflict:h(409,a.aborted,321,\"MlsError\"),not_allowed:d(403,a.permissionDenied,322,\"ChannelError\"),mem" +
  "ber_limit_reached:d(409,a.resourceExhausted,323,\"ChannelError\"),already_member:d(409,a.alreadyExists,324,\"Chan" +
  "nelError\"),queue_full:h(429,a.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,a.outOfRange,326,\"Cha" +
  "nnelError\"),key_package_invalid:d(400,a.invalidArgument,327,\"MlsError\"),key_package_missing:h(404,a.failedPrec" +
  "ondition,328,\"MlsError\"),join_rejected:d(403,a.permissionDenied,329,\"ChannelError\"),membership_lapsed:d(410,a." +
  "failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,a.failedPrecondition,331,\"MlsError\"),storage_full:" +
  "h(507,a.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,a.invalidArgument,333,\"InvalidArgumentError\")" +
  ",removed:d(410,a.failedPrecondition,355,\"RemovedError\"),content_invalid:d(400,a.invalidArgument,352,\"ChannelEr" +
  "ror\"),request_timeout:h(504,a.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,a.aborted,354,\"RemoteE" +
  "rror\"),store_locked:h(409,a.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,a.internal,337,\"StoreErro" +
  "r\"),store_failed:d(500,a.internal,339,\"StoreError\"),passphrase_wrong:d(401,a.unauthenticated,338,\"StoreError\")" +
  "};function k(t){return Object.hasOwn(E,t)}function H(t){return Ce.get(t)}var Ce=new Map(Object.entries(E).flat" +
  "Map(([t,{close:e}])=>k(t)?[[e,t]]:[])),f=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n" +
  "={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var m=Object.fr" +
  "eeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPack" +
  "ageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeByt" +
  "es:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16" +
  ",keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,own" +
  "ersChanges:64,ownersChangeBytes:2048,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featu" +
  "resPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,er" +
  "rorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeB" +
  "ytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderV" +
  "alueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048" +
  "e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:" +
  "864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var w=3,p=4,S=2,F={control:0,data:1};function M(t){if(!N" +
  "umber.isInteger(t)||t<m.minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A cell has ${m.minCellByt" +
  "es} to ${m.maxCellBytes} bytes, not ${t}`);return t}function R(t){if(t===0||t>m.envelopeBytes)throw new f(\"pay" +
  "load_too_large\",`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allowed`)}var U=class{#e;#" +
  "r=[];#t=[];#o=[0,0];#n=0;constructor(e){this.#e=M(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot" +
  " change the cell size while envelopes are waiting\");this.#e=M(e)}get cellBytes(){return this.#e}get pendingByt" +
  "es(){return this.#n}push(e,r){R(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#n+=r.length+p}next(e){" +
  "let r=this.#r.length>0?F.control:F.data,n=r===F.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length" +
  "===this.#e?e:new Uint8Array(this.#e);return this.#i(o,n,r),o}#i(e,r,n){let o=w,s=0,l=this.#o[n]??0;for(let c o" +
  "f r){if(l===0){if(e.length-o<=p)break;Ae(e,o,c.length),o+=p,l=p}let i=l-p,y=c.subarray(i,i+e.length-o);if(e.se" +
  "t(y,o),o+=y.length,l+=y.length,l-p<c.length)break;s++,l=0}let u=o-w;s===1?r.shift():r.splice(0,s),this.#o[n]=l" +
  ",this.#n-=u,e[0]=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function q(t,e,r){let n=e+S;return t.set(r,n),t[e]=r.len" +
  "gth>>8,t[e+1]=r.length&255,n+r.length}function Ae(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var E" +
  "e=64*1024,se=.5,Be=2,P=class{#e;#r;#t=[];#o=0;#n=0;#i=new Uint8Array(0);#l=\"off\";#a=0;#c;#u=0;#s=!0;#h=!1;#p=!" +
  "1;#d=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new " +
  "U(e.cellBytes)}get pendingBytes(){return this.#r.pendingBytes+this.#o+this.#n}get counts(){return{...this.#y}}" +
  "push(e,r){this.#d||(this.#t.length===0?this.#r.push(e,r):(R(r.length),this.#t.push({lane:e,envelope:r}),this.#" +
  "o+=r.length+p),this.#m())}setCellBytes(e){this.#t.push({cellBytes:M(e)}),this.#A()}configure(e,r){if(!this.#d)" +
  "{if(e!==\"off\"&&!(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=vo" +
  "id 0,this.#l=e,this.#a=r,this.#h=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#C(),this.#m()}}setCovering(e){thi" +
  "s.#s=e}flush(e){return this.#d?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise." +
  "resolve(!0):new Promise(r=>{let n=s=>{this.#f.delete(n),o(),r(s)},o=this.#e.after(e,()=>n(!1));this.#f.add(n)}" +
  ")}stop(){this.#d=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this." +
  "#p||this.#d||!this.#b()||(this.#p=!0,this.#E())}#b(){return this.#h||this.#l!==\"constant\"&&this.#r.pendingByte" +
  "s>0}async#E(){await void 0;try{for(;!this.#d&&this.#b();){let e=this.#l===\"constant\"?this.#_():this.#k();if(aw" +
  "ait this.#e.write(e,this.#r.cellBytes),this.#n=0,this.#d)break;this.#A(),this.#e.onWritten?.()}}catch(e){this." +
  "#n=0;let r=this.#d;this.stop(),r||this.#e.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#d||this.pendingBy" +
  "tes>0)){this.#i.length>Be*this.#r.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this" +
  ".#h=!1;let e=this.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)r" +
  "eturn this.#h=!1,this.#v(this.#g(1));let n=Math.ceil(r/(e-w))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Ee/" +
  "e)))),s=0;for(;s<o.length&&this.#x(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#r.cellB" +
  "ytes;return this.#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingByt" +
  "es;if(this.#r.next(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y" +
  ".paddingBytes+=e.length-w-n,this.#w(e,w+n),!0}#v(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverB" +
  "ytes+=e.length,this.#w(e.fill(0),w),e}#w(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>S;){le" +
  "t s=n(e.length-o-S);if(s===void 0)return;o=q(e,o,s)}}#C(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#l=" +
  "==\"poisson\"?this.#U():this.#S(e),()=>{this.#h=this.#s||this.#l===\"constant\"&&this.#r.pendingBytes>0,this.#C()," +
  "this.#m()})}#U(){return-Math.log(1-this.#e.random())*this.#a}#S(e){this.#u=_e(this.#u,this.#a,e);let r=this.#e" +
  ".random()*se*this.#a;return Math.max((1-se)*this.#a,this.#u-r-e)}#A(){for(;this.#r.pendingBytes===0&&this.#t.l" +
  "ength>0;){let e=this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.lengt" +
  "h:e))\"cellBytes\"in r?this.#r.cellBytes=r.cellBytes:(this.#o-=r.envelope.length+p,this.#r.push(r.lane,r.envelop" +
  "e))}}};function _e(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async fun" +
  "ction $({body:t},e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let s=await" +
  " r.read();s.value!==void 0;s=await r.read())if(o+=n.decode(s.value,{stream:!0}),o.length>e)return;return o}fin" +
  "ally{await r.cancel()}}var b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;" +
  "unreachable;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=" +
  "n.retryable??E[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.un" +
  "reachable=n.unreachable}},T=class extends b{name=\"TransportError\"},Q=class extends T{name=\"UnavailableError\"}," +
  "N=class extends T{name=\"InternalError\"},j=class extends b{name=\"AuthError\"},O=class extends b{name=\"ChannelErr" +
  "or\"},V=class extends O{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n.by,this.atMs=n" +
  ".atMs}},J=class extends b{name=\"QuotaExceededError\"},z=class extends b{name=\"MlsError\"},G=class extends b{name" +
  "=\"InvalidArgumentError\"},X=class extends b{name=\"StoreError\"},Y=class extends b{name=\"RemoteError\";remoteCode;" +
  "constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};function g(t){ret" +
  "urn(e,r,n)=>new t(e,r,n)}var ke={TransportError:g(T),AuthError:g(j),ChannelError:g(O),QuotaExceededError:g(J)," +
  "MlsError:g(z),InvalidArgumentError:g(G),StoreError:g(X),UnavailableError:g(Q),RemovedError:g(V),RemoteError:(t" +
  ",e,r)=>new Y(e,r),InternalError:g(N)};function Z(t,e,r){return ke[E[t].errorClass](t,e,r)}var ae=2,B=5,Ue=64*1" +
  "024,Se=10;function de(t){let e=new Uint8Array(B+t.length);return Pe(e,1,t.length),e.set(t,B),e}function le(t){" +
  "let{value:e,end:r}=re(t,0,Se);if(r!==t.length)throw new f(\"protocol_error\",\"A cell's message holds more than a" +
  " cell\");return e}function ce(t,e,r){let[n,o]=[ee(10,t.length),ee(26,r.length)],s=new Uint8Array(9);return s[0]" +
  "=17,new DataView(s.buffer).setBigUint64(1,BigInt(e),!0),D([n,t,s,o,r])}function ue(t){return D([ee(10,t.length" +
  "),t])}function ye(t){let e=new TextDecoder,r=re(t,0,10);return r.end===t.length?{code:e.decode(r.value),messag" +
  "e:\"\"}:{code:e.decode(r.value),message:e.decode(re(t,r.end,18).value)}}var I=class{#e=new Uint8Array(B);#r=0;#t" +
  "=new Uint8Array(0);#o=0;read(e,r){let n=0;for(;n<e.length;){if(this.#r<B){let s=e.subarray(n,n+B-this.#r);if(t" +
  "his.#e.set(s,this.#r),this.#r+=s.length,n+=s.length,this.#r<B)return;this.#n()}let o=e.subarray(n,n+this.#t.le" +
  "ngth-this.#o);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#o),this.#o+=o.length,thi" +
  "s.#o===this.#t.length&&this.#i(this.#t,r))}}#n(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>U" +
  "e)throw new f(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.length!==e&&(this.#" +
  "t=new Uint8Array(e)),this.#o=0}#i(e,r){this.#r=0,r(this.#e[0]??0,e)}};function D(t){let e=new Uint8Array(t.red" +
  "uce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function ee(t,e){let r=[t];for(" +
  "let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}function re(t,e,r){if(t[e" +
  "]!==r)throw new f(\"protocol_error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let s" +
  "=1;s<=2**14;s*=128){let l=t[o++]??0;if(n+=(l&127)*s,l<128){if(n>t.length-o)break;return{value:t.subarray(o,o+n" +
  "),end:o+n}}}throw new f(\"protocol_error\",\"A field goes beyond the end of its message\")}function Pe(t,e,r){new " +
  "DataView(t.buffer,t.byteOffset).setUint32(e,r)}var Te=\"static.relay.v1.ErrorDetail\";function ne(t,e){let r=Me(" +
  "t),{message:n,details:o}=te(r.error??r);for(let s of Array.isArray(o)?o:[]){let{type:l,value:u}=te(s);if(!(l!=" +
  "=Te||typeof u!=\"string\"))try{let c=ye(Uint8Array.from(atob(u),i=>i.charCodeAt(0)));if(k(c.code))return{code:c." +
  "code,message:c.message}}catch{}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}function Me(t){try{return" +
  " te(JSON.parse(t))}catch{return{}}}function te(t){return typeof t==\"object\"&&t!==null?t:{}}function A(t){let e" +
  "=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instanceof Error?r.message" +
  ":String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var Re=32,Oe=1e3,Ie=64*1024,De={\"c" +
  "onnect-protocol-version\":\"1\"};function he(t){let{openHttp:e,unusable:r,randomBytes:n}=t;return{transport:\"cell" +
  "s\",carrier:\"tcp\",unusable:r,connect:(o,s)=>{let l=e(o.trust),u=new AbortController;u.signal.addEventListener(\"" +
  "abort\",()=>l.close());let c=Le(l,o,u.signal),i=n(Re),y=c(\"CellDown\",\"application/connect+proto\",de(ue(i))),v=(" +
  "K,x)=>c(\"CellUp\",\"application/proto\",ce(i,K,x)),C=new oe(y,v,u,t);return s.aborted&&C.close(),Promise.resolve(" +
  "C)}}}function Le(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return async(s,l,u)=>{let c=a" +
  "wait t.request(`https://${o}/static.relay.v1.Relay/${s}`,{method:\"POST\",headers:{...De,\"content-type\":l},body:" +
  "u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(c.status===200)return c;let i=await $(c,I" +
  "e)??\"\",{code:y,message:v}=ne(i,`${s} was answered ${c.status}`);throw Z(y??\"transport_error\",v)}}var oe=class{" +
  "#e;#r;#t;#o;#n=new Set;#i=new I;#l=0;#a=()=>{};closed;constructor(e,r,n,o){this.#e=e.then(s=>s.body?.getReader" +
  "()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#o=n,this.closed=new Promise(s=>this.#a=s)}async read(){try" +
  "{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)return this.#s({message:\"the connection was c" +
  "ut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#s(n),r.length>0)return D(r);if(n!==void 0)r" +
  "eturn}}catch(e){return this.#s({message:A(e)})}}async write(e,r){for(let n=0;n<e.length;n+=r){this.#o.signal.t" +
  "hrowIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#n.delete(o));this.#n.add(o),this.#n.size>=t" +
  "his.#t.callsAtOnce&&await Promise.race(this.#n)}this.#o.signal.throwIfAborted()}async#c(e){try{await(await thi" +
  "s.#r(++this.#l,e)).arrayBuffer()}catch(r){this.#s({message:A(r)})}}close(){let e={message:\"it was closed by th" +
  "is side\"};if(this.#n.size===0)return this.#s(e);this.#a(e);let r=this.#t.after(Oe,()=>this.#s(e));Promise.all(" +
  "this.#n).then(()=>{r(),this.#s(e)})}#u(e){let r=[],n;return this.#i.read(e,(o,s)=>{o===0?r.push(le(s).slice())" +
  ":n=o===ae?We(s):{message:\"compressed cells were not asked for\"}}),{cells:r,end:n}}#s(e){this.#a(e),this.#o.abo" +
  "rt(Z(\"transport_error\",e.message))}};function We(t){return ne(new TextDecoder().decode(t),\"the relay ended the" +
  " stream\")}function pe(){return Date.now()}var ie=2**31-1;function _(t,e){let r=o=>o>ie?setTimeout(()=>n=r(o-ie" +
  "),ie):setTimeout(e,o),n=r(t);return()=>clearTimeout(n)}function L(t){return crypto.getRandomValues(new Uint8Ar" +
  "ray(t))}var Ke=2e4;function He({caCerts:t}){let{Deno:e}=globalThis,r=e.createHttpClient({caCerts:t,http2:!1,po" +
  "olIdleTimeout:Ke}),n=!0;return{request:(o,s)=>{let l={...s,client:r};return fetch(o,l)},close:()=>{n&&r.close(" +
  "),n=!1}}}var Fe=4,fe=he({openHttp:He,unusable:qe,randomBytes:L,callsAtOnce:Fe,after:_});function qe({certifica" +
  "teHashes:t}){return t.length>0?\"Deno can check tls.certificateHashes only over QUIC\":void 0}var $e=1500,Qe=64*" +
  "1024;function me(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.writable.getWriter();r.closed.catch(()=>{});" +
  "let n=new ArrayBuffer(Qe),o=()=>{},s=new Promise(i=>o=i),l,u=i=>{l?.(),o(i)};t.closed.then(({closeCode:i=0})=>" +
  "u(Ne(i)),i=>u({message:A(i)}));let c=()=>{r.close().catch(()=>{}),l??=t.after($e,()=>{t.close(0),o({message:\"t" +
  "he relay ended the stream\"})})};return{read:async()=>{try{let{value:i}=await e.read(new Uint8Array(n));if(i!==" +
  "void 0&&i.length>0)return n=i.buffer,i}catch{}c()},write:async i=>{try{await r.write(i)}catch(y){throw c(),y}}" +
  ",close:i=>{o({message:\"it was closed by this side\"}),i===0?c():t.close(i)},closed:s}}function Ne(t){let e=H(t)" +
  ";return e===void 0?{message:\"the relay closed the connection\"}:{code:e,message:`the relay closed the connectio" +
  "n with ${e}`}}var je=\"static-relay/1\",Ve={maxIdleTimeout:1e4,keepAliveInterval:4e3},Je=\"low-latency\",be={trans" +
  "port:\"quic\",carrier:\"udp\",unusable:()=>ge()===void 0?\"Deno offers QUIC only with --unstable-net\":void 0,connec" +
  "t:async({host:t,port:e,trust:r},n)=>{let o=ge();if(o===void 0)throw new Error(\"Deno offers QUIC only with --un" +
  "stable-net\");n.throwIfAborted();let s=r.certificateHashes.map(i=>({algorithm:\"sha-256\",value:i})),l=ze(o),u=i=" +
  ">l.close({closeCode:i,reason:\"\"}),c=()=>u(0);n.addEventListener(\"abort\",c);try{let i=await o.connectQuic({host" +
  "name:t,port:e,alpnProtocols:[je],caCerts:r.caCerts,...s.length>0&&{serverCertificateHashes:s},endpoint:l,...Ve" +
  ",congestionControl:Je}),{readable:y,writable:v}=await i.createBidirectionalStream(),C=i.closed.finally(()=>u(0" +
  "));return me({readable:y,writable:v,closed:C,close:u,after:_})}catch(i){throw u(0),n.aborted?n.reason:i}finall" +
  "y{n.removeEventListener(\"abort\",c)}}};function ze({QuicEndpoint:t}){try{return new t({hostname:\"::\"})}catch{re" +
  "turn new t({hostname:\"0.0.0.0\"})}}function ge(){let{Deno:t}=globalThis;return t?.connectQuic===void 0?void 0:t" +
  "}var W=class{#e=new Map;offer(e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.le" +
  "ngth>e))return this.#e.delete(r),n}};var Ge=2e3;function xe(t,e){let r,n,o=0,s=new W,l=i=>{t.post({kind:\"writt" +
  "en\",takenBytes:o-i.pendingBytes,counts:i.counts})},u=async({transport:i,target:y})=>{let v=e.connectors.find(x" +
  "=>x.transport===i);if(v===void 0)throw new Error(`no way to connect by ${i} in a thread of its own`);let C=r=a" +
  "wait v.connect(y,new AbortController().signal),K=n=new P({cellBytes:m.cellBytes,write:(x,we)=>C.write(x,we),af" +
  "ter:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:x=>s.take(" +
  "x),onWritten:()=>l(K),onFailed:()=>t.post({kind:\"failed\"})});C.closed.then(x=>t.post({kind:\"closed\",end:x})),t" +
  ".post({kind:\"connected\"})},c=async()=>{let i=await r?.read();t.post({kind:\"chunk\",bytes:i?.slice()})};t.listen" +
  "(i=>{switch(i.kind){case\"connect\":return void u(i).catch(y=>t.post({kind:\"refused\",message:A(y)}));case\"push\":" +
  "return o+=i.envelope.length+p,n?.push(i.lane,i.envelope);case\"offer\":return s.offer(i.key,i.envelope);case\"cel" +
  "lBytes\":return n?.setCellBytes(i.cellBytes);case\"configure\":return n?.configure(i.mode,i.intervalMs);case\"cove" +
  "ring\":return n?.setCovering(i.covering);case\"flush\":return void n?.flush(i.timeoutMs).then(y=>{t.post({kind:\"f" +
  "lushed\",id:i.id,flushed:y})});case\"read\":return void c();case\"stop\":return n?.stop();case\"close\":return r?.clo" +
  "se(i.closeCode),void e.after(Ge,e.exit)}})}function ve(t){let e=globalThis;xe({post:r=>e.postMessage(r),listen" +
  ":r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:pe,after:_,randomBytes:L,exit:()=>e.close()})}ve([be,f" +
  "e]);\n";
