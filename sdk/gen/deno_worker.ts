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
  "nelError\"),identity_present:d(409,a.alreadyExists,356,\"ChannelError\"),queue_full:h(429,a.resourceExhausted,325" +
  ",\"ChannelError\"),cursor_invalid:d(416,a.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,a.invalidArgu" +
  "ment,327,\"MlsError\"),key_package_missing:h(404,a.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,a.perm" +
  "issionDenied,329,\"ChannelError\"),membership_lapsed:d(410,a.failedPrecondition,330,\"ChannelError\"),state_confli" +
  "ct:d(409,a.failedPrecondition,331,\"MlsError\"),storage_full:h(507,a.resourceExhausted,332,\"ChannelError\"),link_" +
  "invalid:d(400,a.invalidArgument,333,\"InvalidArgumentError\"),removed:d(410,a.failedPrecondition,355,\"RemovedErr" +
  "or\"),members_must_update:d(409,a.failedPrecondition,334,\"ChannelError\"),successor_needed:d(409,a.failedPrecond" +
  "ition,335,\"ChannelError\"),content_invalid:d(400,a.invalidArgument,352,\"ChannelError\"),request_timeout:h(504,a." +
  "deadlineExceeded,353,\"TransportError\"),remote_error:d(502,a.aborted,354,\"RemoteError\"),store_locked:h(409,a.fa" +
  "iledPrecondition,336,\"StoreError\"),store_corrupt:d(500,a.internal,337,\"StoreError\"),store_failed:d(500,a.inter" +
  "nal,339,\"StoreError\"),passphrase_wrong:d(401,a.unauthenticated,338,\"StoreError\")};function k(t){return Object." +
  "hasOwn(E,t)}function q(t){return Ce.get(t)}var Ce=new Map(Object.entries(E).flatMap(([t,{close:e}])=>k(t)?[[e," +
  "t]]:[])),p=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?" +
  "void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var m=Object.freeze({cellBytes:4096,minCellBy" +
  "tes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262" +
  "144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBy" +
  "tes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,chan" +
  "nelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeByte" +
  "s:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64" +
  ",identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64," +
  "nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,content" +
  "Addressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,c" +
  "ontentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:1" +
  "6777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIn" +
  "tervalMs:10,maxCoverIntervalMs:36e5});var v=3,f=4,S=2,$={control:0,data:1};function R(t){if(!Number.isInteger(" +
  "t)||t<m.minCellBytes||t>m.maxCellBytes)throw new p(\"protocol_error\",`A cell has ${m.minCellBytes} to ${m.maxCe" +
  "llBytes} bytes, not ${t}`);return t}function O(t){if(t===0||t>m.envelopeBytes)throw new p(\"payload_too_large\"," +
  "`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allowed`)}var U=class{#e;#r=[];#t=[];#n=[0" +
  ",0];#o=0;constructor(e){this.#e=R(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell" +
  " size while envelopes are waiting\");this.#e=R(e)}get cellBytes(){return this.#e}get pendingBytes(){return this" +
  ".#o}push(e,r){O(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#o+=r.length+f}next(e){let r=this.#r.le" +
  "ngth>0?$.control:$.data,n=r===$.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new" +
  " Uint8Array(this.#e);return this.#i(o,n,r),o}#i(e,r,n){let o=v,i=0,l=this.#n[n]??0;for(let c of r){if(l===0){i" +
  "f(e.length-o<=f)break;Ee(e,o,c.length),o+=f,l=f}let s=l-f,y=c.subarray(s,s+e.length-o);if(e.set(y,o),o+=y.leng" +
  "th,l+=y.length,l-f<c.length)break;i++,l=0}let u=o-v;i===1?r.shift():r.splice(0,i),this.#n[n]=l,this.#o-=u,e[0]" +
  "=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function N(t,e,r){let n=e+S;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r." +
  "length&255,n+r.length}function Ee(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Be=64*1024,de=.5," +
  "_e=2,P=class{#e;#r;#t=[];#n=0;#o=0;#i=new Uint8Array(0);#a=\"off\";#s=0;#c;#u=0;#d=!0;#h=!1;#f=!1;#l=!1;#p=new S" +
  "et;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new U(e.cellBytes)}g" +
  "et pendingBytes(){return this.#r.pendingBytes+this.#n+this.#o}get counts(){return{...this.#y}}push(e,r){this.#" +
  "l||(this.#t.length===0?this.#r.push(e,r):(O(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+f),t" +
  "his.#m())}setCellBytes(e){this.#t.push({cellBytes:R(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!" +
  "(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,t" +
  "his.#s=r,this.#h=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){" +
  "return this.#l?Promise.resolve(this.pendingBytes===0):!this.#f&&this.pendingBytes===0?Promise.resolve(!0):new " +
  "Promise(r=>{let n=i=>{this.#p.delete(n),o(),r(i)},o=this.#e.after(e,()=>n(!1));this.#p.add(n)})}stop(){this.#l" +
  "=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array(0);for(let e of this.#p)e(!1)}#m(){this.#f||this.#l||!th" +
  "is.#b()||(this.#f=!0,this.#E())}#b(){return this.#h||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){aw" +
  "ait void 0;try{for(;!this.#l&&this.#b();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.writ" +
  "e(e,this.#r.cellBytes),this.#o=0,this.#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this." +
  "#l;this.stop(),r||this.#e.onFailed?.(e)}this.#f=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#i." +
  "length>_e*this.#r.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#p)e(!0)}}#_(){this.#h=!1;let e=thi" +
  "s.#g(1);return this.#x(e)?e:this.#v(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#h=!1" +
  ",this.#v(this.#g(1));let n=Math.ceil(r/(e-v))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Be/e)))),i=0;for(;i" +
  "<o.length&&this.#x(o.subarray(i,i+e));)i+=e;return o.subarray(0,i)}#g(e){let r=e*this.#r.cellBytes;return this" +
  ".#i.length<r&&(this.#i=new Uint8Array(r)),this.#i.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.ne" +
  "xt(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#o+=n,this.#y.cells++,this.#y.paddingBytes+=e" +
  ".length-v-n,this.#w(e,v+n),!0}#v(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,t" +
  "his.#w(e.fill(0),v),e}#w(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>S;){let i=n(e.length-o" +
  "-S);if(i===void 0)return;o=N(e,o,i)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this" +
  ".#U():this.#S(e),()=>{this.#h=this.#d||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#U()" +
  "{return-Math.log(1-this.#e.random())*this.#s}#S(e){this.#u=ke(this.#u,this.#s,e);let r=this.#e.random()*de*thi" +
  "s.#s;return Math.max((1-de)*this.#s,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=" +
  "this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"" +
  "in r?this.#r.cellBytes=r.cellBytes:(this.#n-=r.envelope.length+f,this.#r.push(r.lane,r.envelope))}}};function " +
  "ke(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function Q({body:t}" +
  ",e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let i=await r.read();i.valu" +
  "e!==void 0;i=await r.read())if(o+=n.decode(i.value,{stream:!0}),o.length>e)return;return o}finally{await r.can" +
  "cel()}}var b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;memb" +
  "ers;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retrya" +
  "ble??E[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachabl" +
  "e=n.unreachable,this.members=n.members}},M=class extends b{name=\"TransportError\"},j=class extends M{name=\"Unav" +
  "ailableError\"},V=class extends M{name=\"InternalError\"},J=class extends b{name=\"AuthError\"},I=class extends b{n" +
  "ame=\"ChannelError\"},z=class extends I{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n" +
  ".by,this.atMs=n.atMs}},G=class extends b{name=\"QuotaExceededError\"},X=class extends b{name=\"MlsError\"},Y=class" +
  " extends b{name=\"InvalidArgumentError\"},Z=class extends b{name=\"StoreError\"},ee=class extends b{name=\"RemoteEr" +
  "ror\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};f" +
  "unction g(t){return(e,r,n)=>new t(e,r,n)}var Ue={TransportError:g(M),AuthError:g(J),ChannelError:g(I),QuotaExc" +
  "eededError:g(G),MlsError:g(X),InvalidArgumentError:g(Y),StoreError:g(Z),UnavailableError:g(j),RemovedError:g(z" +
  "),RemoteError:(t,e,r)=>new ee(e,r),InternalError:g(V)};function re(t,e,r){return Ue[E[t].errorClass](t,e,r)}va" +
  "r le=2,B=5,Se=64*1024,Pe=10;function ce(t){let e=new Uint8Array(B+t.length);return Me(e,1,t.length),e.set(t,B)" +
  ",e}function ue(t){let{value:e,end:r}=ne(t,0,Pe);if(r!==t.length)throw new p(\"protocol_error\",\"A cell's message" +
  " holds more than a cell\");return e}function ye(t,e,r){let[n,o]=[te(10,t.length),te(26,r.length)],i=new Uint8Ar" +
  "ray(9);return i[0]=17,new DataView(i.buffer).setBigUint64(1,BigInt(e),!0),W([n,t,i,o,r])}function he(t){return" +
  " W([te(10,t.length),t])}function fe(t){let e=new TextDecoder,r=ne(t,0,10);return r.end===t.length?{code:e.deco" +
  "de(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(ne(t,r.end,18).value)}}var D=class{#e=new Uin" +
  "t8Array(B);#r=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;){if(this.#r<B){let i=e.subarray(n" +
  ",n+B-this.#r);if(this.#e.set(i,this.#r),this.#r+=i.length,n+=i.length,this.#r<B)return;this.#o()}let o=e.subar" +
  "ray(n,n+this.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#i(o,r):(this.#t.set(o,this.#n),thi" +
  "s.#n+=o.length,this.#n===this.#t.length&&this.#i(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getUint3" +
  "2(1);if(e===0||e>Se)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.l" +
  "ength!==e&&(this.#t=new Uint8Array(e)),this.#n=0}#i(e,r){this.#r=0,r(this.#e[0]??0,e)}};function W(t){let e=ne" +
  "w Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function te(t" +
  ",e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}functio" +
  "n ne(t,e,r){if(t[e]!==r)throw new p(\"protocol_error\",\"A message without the field that it must have\");let[n,o]" +
  "=[0,e+1];for(let i=1;i<=2**14;i*=128){let l=t[o++]??0;if(n+=(l&127)*i,l<128){if(n>t.length-o)break;return{valu" +
  "e:t.subarray(o,o+n),end:o+n}}}throw new p(\"protocol_error\",\"A field goes beyond the end of its message\")}funct" +
  "ion Me(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var Te=\"static.relay.v1.ErrorDetail\";function" +
  " ie(t,e){let r=Re(t),{message:n,details:o}=oe(r.error??r);for(let i of Array.isArray(o)?o:[]){let{type:l,value" +
  ":u}=oe(i);if(!(l!==Te||typeof u!=\"string\"))try{let c=fe(Uint8Array.from(atob(u),s=>s.charCodeAt(0)));if(k(c.co" +
  "de))return{code:c.code,message:c.message}}catch{}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}functio" +
  "n Re(t){try{return oe(JSON.parse(t))}catch{return{}}}function oe(t){return typeof t==\"object\"&&t!==null?t:{}}f" +
  "unction C(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instance" +
  "of Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var Oe=32,Ie=1e3" +
  ",De=64*1024,We={\"connect-protocol-version\":\"1\"};function pe(t){let{openHttp:e,unusable:r,randomBytes:n}=t;retu" +
  "rn{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,i)=>{let l=e(o.trust),u=new AbortController;u.signal." +
  "addEventListener(\"abort\",()=>l.close());let c=Le(l,o,u.signal),s=n(Oe),y=c(\"CellDown\",\"application/connect+pro" +
  "to\",ce(he(s))),w=(T,F)=>c(\"CellUp\",\"application/proto\",ye(s,T,F)),A=new se(y,w,u,t);return i.aborted&&A.close(" +
  "),Promise.resolve(A)}}}function Le(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return asyn" +
  "c(i,l,u)=>{let c=await t.request(`https://${o}/static.relay.v1.Relay/${i}`,{method:\"POST\",headers:{...We,\"cont" +
  "ent-type\":l},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(c.status===200)return c" +
  ";let s=await Q(c,De)??\"\",{code:y,message:w}=ie(s,`The relay returned HTTP status ${c.status} for ${i}`);throw " +
  "re(y??\"transport_error\",w)}}var se=class{#e;#r;#t;#n;#o=new Set;#i=new D;#a=0;#s=()=>{};closed;constructor(e,r" +
  ",n,o){this.#e=e.then(i=>i.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=n" +
  "ew Promise(i=>this.#s=i)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)retu" +
  "rn this.#d({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(" +
  "n),r.length>0)return W(r);if(n!==void 0)return}}catch(e){return this.#d({message:C(e)})}}async write(e,r){for(" +
  "let n=0;n<e.length;n+=r){this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o." +
  "delete(o));this.#o.add(o),this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwI" +
  "fAborted()}async#c(e){try{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d({message:C(r)})}}cl" +
  "ose(){let e={message:\"it was closed by this side\"};if(this.#o.size===0)return this.#d(e);this.#s(e);let r=this" +
  ".#t.after(Ie,()=>this.#d(e));Promise.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#i.r" +
  "ead(e,(o,i)=>{o===0?r.push(ue(i).slice()):n=o===le?Ke(i):{message:\"compressed cells were not asked for\"}}),{ce" +
  "lls:r,end:n}}#d(e){this.#s(e),this.#n.abort(re(\"transport_error\",e.message))}};function Ke(t){return ie(new Te" +
  "xtDecoder().decode(t),\"the relay ended the stream\")}var L=class{#e=new Map;#r;#t=1/0;#n=0;after(e,r){let n=Mat" +
  "h.ceil((performance.now()+e)/250),o={run:r},i=this.#e.get(n);return i===void 0?this.#e.set(n,new Set([o])):i.a" +
  "dd(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#i(!0),()=>{this.#o(n,o)}}#o(e,r){let n=this.#e.get(e);" +
  "return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0&&this.#i(!1),!0)}#i(e)" +
  "{typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r),this.#t=e;let r=Math." +
  "max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#s(),Math.min(r,2147483647))}#s(){this.#r=void 0,th" +
  "is.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r,n);else for(let i of o)" +
  "queueMicrotask(()=>this.#o(n,i)&&i.run());r<1/0&&this.#a(r)}};function me(){return Date.now()}var He=5e3,Fe=ne" +
  "w L;function _(t,e){if(t>=He)return Fe.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function K(t" +
  "){return crypto.getRandomValues(new Uint8Array(t))}var qe=2e4;function $e({caCerts:t}){let{Deno:e}=globalThis," +
  "r=e.createHttpClient({caCerts:t,http2:!1,poolIdleTimeout:qe}),n=!0;return{request:(o,i)=>fetch(o,Object.assign" +
  "({},i,{client:r})),close:()=>{n&&r.close(),n=!1}}}var Ne=4,ge=pe({openHttp:$e,unusable:Qe,randomBytes:K,callsA" +
  "tOnce:Ne,after:_});function Qe({certificateHashes:t}){return t.length>0?\"Deno can check tls.certificateHashes " +
  "only over QUIC\":void 0}var je=1500,Ve=64*1024;function be(t){let e=t.readable.getReader({mode:\"byob\"}),r=t.wri" +
  "table.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(Ve),o=()=>{},i=new Promise(s=>o=s),l,u=s=>{l?.(" +
  "),o(s)};t.closed.then(({closeCode:s=0})=>u(Je(s)),s=>u({message:C(s)}));let c=()=>{r.close().catch(()=>{}),l??" +
  "=t.after(je,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read:async()=>{try{let{value:s" +
  "}=await e.read(new Uint8Array(n));if(s!==void 0&&s.length>0)return n=s.buffer,s}catch{}c()},write:async s=>{tr" +
  "y{await r.write(s)}catch(y){throw c(),y}},close:s=>{o({message:\"it was closed by this side\"}),s===0?c():t.clos" +
  "e(s)},closed:i}}function Je(t){let e=q(t);return e===void 0?{message:\"the relay closed the connection\"}:{code:" +
  "e,message:`the relay closed the connection with ${e}`}}var ze=\"static-relay/1\",Ge={maxIdleTimeout:1e4},Xe=\"low" +
  "-latency\",ve={transport:\"quic\",carrier:\"udp\",unusable:()=>xe()===void 0?\"Deno offers QUIC only with --unstable" +
  "-net\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=xe();if(o===void 0)throw new Error(\"Deno offers " +
  "QUIC only with --unstable-net\");n.throwIfAborted();let i=r.certificateHashes.map(s=>({algorithm:\"sha-256\",valu" +
  "e:s})),l=Ye(o),u=s=>l.close({closeCode:s,reason:\"\"}),c=()=>u(0);n.addEventListener(\"abort\",c);try{let s=await " +
  "o.connectQuic({hostname:t,port:e,alpnProtocols:[ze],caCerts:r.caCerts,...i.length>0&&{serverCertificateHashes:" +
  "i},endpoint:l,...Ge,congestionControl:Xe}),{readable:y,writable:w}=await s.createBidirectionalStream(),A=s.clo" +
  "sed.finally(()=>u(0));return be({readable:y,writable:w,closed:A,close:u,after:_})}catch(s){throw u(0),n.aborte" +
  "d?n.reason:s}finally{n.removeEventListener(\"abort\",c)}}};function Ye({QuicEndpoint:t}){try{return new t({hostn" +
  "ame:\"::\"})}catch{return new t({hostname:\"0.0.0.0\"})}}function xe(){let{Deno:t}=globalThis;return t?.connectQui" +
  "c===void 0?void 0:t}var H=class{#e=new Map;offer(e,r){this.#e.delete(e),this.#e.set(e,r)}take(e){for(let[r,n]o" +
  "f this.#e)if(!(n.length>e))return this.#e.delete(r),n}};var Ze=2e3;function we(t,e){let r,n,o=0,i=new H,l=s=>{" +
  "t.post({kind:\"written\",takenBytes:o-s.pendingBytes,counts:s.counts})},u=async({transport:s,target:y,isTapped:w" +
  "})=>{let A=e.connectors.find(x=>x.transport===s);if(A===void 0)throw new Error(`no way to connect by ${s} in a" +
  " thread of its own`);let T=r=await A.connect(y,new AbortController().signal),F=n=new P({cellBytes:m.cellBytes," +
  "write:(x,ae)=>(w&&t.post({kind:\"sent\",cells:x.slice(),cellBytes:ae}),T.write(x,ae)),after:e.after,nowMs:e.nowM" +
  "s,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:x=>i.take(x),onWritten:()=>l(F),on" +
  "Failed:()=>t.post({kind:\"failed\"})});T.closed.then(x=>t.post({kind:\"closed\",end:x})),t.post({kind:\"connected\"}" +
  ")},c=async()=>{let s=await r?.read();t.post({kind:\"chunk\",bytes:s?.slice()})};t.listen(s=>{switch(s.kind){case" +
  "\"connect\":return void u(s).catch(y=>t.post({kind:\"refused\",message:C(y)}));case\"push\":return o+=s.envelope.len" +
  "gth+f,n?.push(s.lane,s.envelope);case\"offer\":return i.offer(s.key,s.envelope);case\"cellBytes\":return n?.setCel" +
  "lBytes(s.cellBytes);case\"configure\":return n?.configure(s.mode,s.intervalMs);case\"covering\":return n?.setCover" +
  "ing(s.covering);case\"flush\":return void n?.flush(s.timeoutMs).then(y=>{t.post({kind:\"flushed\",id:s.id,flushed:" +
  "y})});case\"read\":return void c();case\"stop\":return n?.stop();case\"close\":return r?.close(s.closeCode),void e.a" +
  "fter(Ze,e.exit)}})}function Ae(t){let e=globalThis;we({post:r=>e.postMessage(r),listen:r=>{e.onmessage=({data:" +
  "n})=>r(n)}},{connectors:t,nowMs:me,after:_,randomBytes:K,exit:()=>e.close()})}Ae([ve,ge]);\n";
