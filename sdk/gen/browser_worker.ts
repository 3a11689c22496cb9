/** Built from sdk/platform/browser_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var i={invalidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8," +
  "failedPrecondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16}," +
  "d=(t,e,r,n)=>({http:t,grpc:e,close:r,errorClass:n,retryable:!1}),h=(...t)=>({...d(...t),retryable:!0}),C={join" +
  "_timeout:h(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:d(401,i.unauthenticated,258,\"AuthError\"),a" +
  "uth_key_invalid:d(401,i.unauthenticated,259,\"AuthError\"),transport_error:h(502,i.unavailable,260,\"TransportErr" +
  "or\"),connection_error:h(502,i.unavailable,261,\"TransportError\"),listener_died:d(500,i.internal,262,\"TransportE" +
  "rror\"),channel_error:d(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:d(429,i.resourceExhausted,264," +
  "\"QuotaExceededError\"),mls_error:d(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:d(400,i.invalidArgu" +
  "ment,272,\"InvalidArgumentError\"),not_found:d(404,i.notFound,273,\"ChannelError\"),method_not_allowed:d(405,i.uni" +
  "mplemented,274,\"InvalidArgumentError\"),payload_too_large:d(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupp" +
  "orted_media_type:d(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,i.resourceExhausted,27" +
  "7,\"UnavailableError\"),internal:d(500,i.internal,278,\"InternalError\"),overloaded:h(503,i.unavailable,279,\"Unava" +
  "ilableError\"),email_taken:d(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:d(409,i.resourceExhausted,2" +
  "89,\"AuthError\"),account_suspended:d(403,i.permissionDenied,290,\"AuthError\"),conflict:d(409,i.aborted,291,\"Auth" +
  "Error\"),code_invalid:d(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:d(403,i.permissionDenied,293,\"AuthEr" +
  "ror\"),protocol_error:d(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:d(400,i.failedPrecondit" +
  "ion,305,\"TransportError\"),unknown_operation:d(404,i.unimplemented,306,\"TransportError\"),session_expired:d(401," +
  "i.unauthenticated,307,\"AuthError\"),session_replaced:d(409,i.aborted,308,\"TransportError\"),slow_reader:h(429,i." +
  "resourceExhausted,309,\"UnavailableError\"),relay_draining:h(503,i.unavailable,310,\"UnavailableError\"),certifica" +
  "te_changed:d(502,i.failedPrecondition,311,\"TransportError\"),name_taken:d(409,i.alreadyExists,320,\"ChannelError" +
  "\"),epoch_conflict:h(409,i.aborted,321,\"MlsError\"),not_allowed:d(403,i.permissionDenied,322,\"ChannelError\"),mem" +
  "ber_limit_reached:d(409,i.resourceExhausted,323,\"ChannelError\"),already_member:d(409,i.alreadyExists,324,\"Chan" +
  "nelError\"),identity_present:d(409,i.alreadyExists,356,\"ChannelError\"),queue_full:h(429,i.resourceExhausted,325" +
  ",\"ChannelError\"),cursor_invalid:d(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:d(400,i.invalidArgu" +
  "ment,327,\"MlsError\"),key_package_missing:h(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,i.perm" +
  "issionDenied,329,\"ChannelError\"),membership_lapsed:d(410,i.failedPrecondition,330,\"ChannelError\"),state_confli" +
  "ct:d(409,i.failedPrecondition,331,\"MlsError\"),storage_full:h(507,i.resourceExhausted,332,\"ChannelError\"),link_" +
  "invalid:d(400,i.invalidArgument,333,\"InvalidArgumentError\"),removed:d(410,i.failedPrecondition,355,\"RemovedErr" +
  "or\"),members_must_update:d(409,i.failedPrecondition,334,\"ChannelError\"),successor_needed:d(409,i.failedPrecond" +
  "ition,335,\"ChannelError\"),content_invalid:d(400,i.invalidArgument,352,\"ChannelError\"),request_timeout:h(504,i." +
  "deadlineExceeded,353,\"TransportError\"),remote_error:d(502,i.aborted,354,\"RemoteError\"),store_locked:h(409,i.fa" +
  "iledPrecondition,336,\"StoreError\"),store_corrupt:d(500,i.internal,337,\"StoreError\"),store_failed:d(500,i.inter" +
  "nal,339,\"StoreError\"),passphrase_wrong:d(401,i.unauthenticated,338,\"StoreError\")};function k(t){return Object." +
  "hasOwn(C,t)}function q(t){return Ce.get(t)}var Ce=new Map(Object.entries(C).flatMap(([t,{close:e}])=>k(t)?[[e," +
  "t]]:[])),f=class extends Error{name=\"WireError\";code;requestId;constructor(e,r,n={}){super(r,n.cause===void 0?" +
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
  "tervalMs:10,maxCoverIntervalMs:36e5});var w=3,p=4,S=2,$={control:0,data:1};function R(t){if(!Number.isInteger(" +
  "t)||t<m.minCellBytes||t>m.maxCellBytes)throw new f(\"protocol_error\",`A cell has ${m.minCellBytes} to ${m.maxCe" +
  "llBytes} bytes, not ${t}`);return t}function O(t){if(t===0||t>m.envelopeBytes)throw new f(\"payload_too_large\"," +
  "`Cannot send an envelope of ${t} bytes; 1 to ${m.envelopeBytes} are allowed`)}var U=class{#e;#r=[];#t=[];#n=[0" +
  ",0];#o=0;constructor(e){this.#e=R(e)}set cellBytes(e){if(this.#o>0)throw new TypeError(\"Cannot change the cell" +
  " size while envelopes are waiting\");this.#e=R(e)}get cellBytes(){return this.#e}get pendingBytes(){return this" +
  ".#o}push(e,r){O(r.length),(e===\"control\"?this.#r:this.#t).push(r),this.#o+=r.length+p}next(e){let r=this.#r.le" +
  "ngth>0?$.control:$.data,n=r===$.control?this.#r:this.#t;if(n.length===0)return;let o=e?.length===this.#e?e:new" +
  " Uint8Array(this.#e);return this.#s(o,n,r),o}#s(e,r,n){let o=w,s=0,l=this.#n[n]??0;for(let c of r){if(l===0){i" +
  "f(e.length-o<=p)break;Ee(e,o,c.length),o+=p,l=p}let a=l-p,y=c.subarray(a,a+e.length-o);if(e.set(y,o),o+=y.leng" +
  "th,l+=y.length,l-p<c.length)break;s++,l=0}let u=o-w;s===1?r.shift():r.splice(0,s),this.#n[n]=l,this.#o-=u,e[0]" +
  "=n,e[1]=u>>8,e[2]=u&255,e.fill(0,o)}};function N(t,e,r){let n=e+S;return t.set(r,n),t[e]=r.length>>8,t[e+1]=r." +
  "length&255,n+r.length}function Ee(t,e,r){t[e]=r>>>24,t[e+1]=r>>>16,t[e+2]=r>>>8,t[e+3]=r}var Be=64*1024,de=.5," +
  "_e=2,P=class{#e;#r;#t=[];#n=0;#o=0;#s=new Uint8Array(0);#a=\"off\";#i=0;#c;#u=0;#d=!0;#h=!1;#p=!1;#l=!1;#f=new S" +
  "et;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#e=e,this.#r=new U(e.cellBytes)}g" +
  "et pendingBytes(){return this.#r.pendingBytes+this.#n+this.#o}get counts(){return{...this.#y}}push(e,r){this.#" +
  "l||(this.#t.length===0?this.#r.push(e,r):(O(r.length),this.#t.push({lane:e,envelope:r}),this.#n+=r.length+p),t" +
  "his.#m())}setCellBytes(e){this.#t.push({cellBytes:R(e)}),this.#C()}configure(e,r){if(!this.#l){if(e!==\"off\"&&!" +
  "(r>0))throw new RangeError(`Cover needs an interval above 0, not ${r}`);this.#c?.(),this.#c=void 0,this.#a=e,t" +
  "his.#i=r,this.#h=!1,this.#u=this.#e.nowMs(),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){" +
  "return this.#l?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new " +
  "Promise(r=>{let n=s=>{this.#f.delete(n),o(),r(s)},o=this.#e.after(e,()=>n(!1));this.#f.add(n)})}stop(){this.#l" +
  "=!0,this.#c?.(),this.#c=void 0,this.#s=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#l||!th" +
  "is.#b()||(this.#p=!0,this.#E())}#b(){return this.#h||this.#a!==\"constant\"&&this.#r.pendingBytes>0}async#E(){aw" +
  "ait void 0;try{for(;!this.#l&&this.#b();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#e.writ" +
  "e(e,this.#r.cellBytes),this.#o=0,this.#l)break;this.#C(),this.#e.onWritten?.()}}catch(e){this.#o=0;let r=this." +
  "#l;this.stop(),r||this.#e.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#l||this.pendingBytes>0)){this.#s." +
  "length>_e*this.#r.cellBytes&&(this.#s=new Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this.#h=!1;let e=thi" +
  "s.#g(1);return this.#x(e)?e:this.#w(e)}#k(){let{cellBytes:e,pendingBytes:r}=this.#r;if(r===0)return this.#h=!1" +
  ",this.#w(this.#g(1));let n=Math.ceil(r/(e-w))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(Be/e)))),s=0;for(;s" +
  "<o.length&&this.#x(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){let r=e*this.#r.cellBytes;return this" +
  ".#s.length<r&&(this.#s=new Uint8Array(r)),this.#s.subarray(0,r)}#x(e){let r=this.#r.pendingBytes;if(this.#r.ne" +
  "xt(e)===void 0)return!1;let n=r-this.#r.pendingBytes;return this.#o+=n,this.#y.cells++,this.#y.paddingBytes+=e" +
  ".length-w-n,this.#v(e,w+n),!0}#w(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,t" +
  "his.#v(e.fill(0),w),e}#v(e,r){let{rider:n}=this.#e;if(n!==void 0)for(let o=r;e.length-o>S;){let s=n(e.length-o" +
  "-S);if(s===void 0)return;o=N(e,o,s)}}#A(){let e=this.#e.nowMs();this.#c=this.#e.after(this.#a===\"poisson\"?this" +
  ".#U():this.#S(e),()=>{this.#h=this.#d||this.#a===\"constant\"&&this.#r.pendingBytes>0,this.#A(),this.#m()})}#U()" +
  "{return-Math.log(1-this.#e.random())*this.#i}#S(e){this.#u=ke(this.#u,this.#i,e);let r=this.#e.random()*de*thi" +
  "s.#i;return Math.max((1-de)*this.#i,this.#u-r-e)}#C(){for(;this.#r.pendingBytes===0&&this.#t.length>0;){let e=" +
  "this.#t.findIndex((r,n)=>n>0&&\"cellBytes\"in r);for(let r of this.#t.splice(0,e<0?this.#t.length:e))\"cellBytes\"" +
  "in r?this.#r.cellBytes=r.cellBytes:(this.#n-=r.envelope.length+p,this.#r.push(r.lane,r.envelope))}}};function " +
  "ke(t,e,r){if(r<t-e)return r+e;let n=Math.max(0,Math.floor((r-t)/e));return t+(n+1)*e}async function j({body:t}" +
  ",e){let r=t?.getReader();if(r===void 0)return\"\";let n=new TextDecoder,o=\"\";try{for(let s=await r.read();s.valu" +
  "e!==void 0;s=await r.read())if(o+=n.decode(s.value,{stream:!0}),o.length>e)return;return o}finally{await r.can" +
  "cel()}}var b=class extends Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;memb" +
  "ers;constructor(e,r,n={}){super(r,n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retrya" +
  "ble??C[e].retryable,this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachabl" +
  "e=n.unreachable,this.members=n.members}},T=class extends b{name=\"TransportError\"},V=class extends T{name=\"Unav" +
  "ailableError\"},J=class extends T{name=\"InternalError\"},z=class extends b{name=\"AuthError\"},W=class extends b{n" +
  "ame=\"ChannelError\"},G=class extends W{name=\"RemovedError\";by;atMs;constructor(e,r,n={}){super(e,r,n),this.by=n" +
  ".by,this.atMs=n.atMs}},Q=class extends b{name=\"QuotaExceededError\"},X=class extends b{name=\"MlsError\"},Y=class" +
  " extends b{name=\"InvalidArgumentError\"},Z=class extends b{name=\"StoreError\"},ee=class extends b{name=\"RemoteEr" +
  "ror\";remoteCode;constructor(e,{remoteCode:r=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=r}};f" +
  "unction g(t){return(e,r,n)=>new t(e,r,n)}var Ue={TransportError:g(T),AuthError:g(z),ChannelError:g(W),QuotaExc" +
  "eededError:g(Q),MlsError:g(X),InvalidArgumentError:g(Y),StoreError:g(Z),UnavailableError:g(V),RemovedError:g(G" +
  "),RemoteError:(t,e,r)=>new ee(e,r),InternalError:g(J)};function re(t,e,r){return Ue[C[t].errorClass](t,e,r)}va" +
  "r le=2,E=5,Se=64*1024,Pe=10;function ce(t){let e=new Uint8Array(E+t.length);return Te(e,1,t.length),e.set(t,E)" +
  ",e}function ue(t){let{value:e,end:r}=ne(t,0,Pe);if(r!==t.length)throw new f(\"protocol_error\",\"A cell's message" +
  " holds more than a cell\");return e}function ye(t,e,r){let[n,o]=[te(10,t.length),te(26,r.length)],s=new Uint8Ar" +
  "ray(9);return s[0]=17,new DataView(s.buffer).setBigUint64(1,BigInt(e),!0),L([n,t,s,o,r])}function he(t){return" +
  " L([te(10,t.length),t])}function pe(t){let e=new TextDecoder,r=ne(t,0,10);return r.end===t.length?{code:e.deco" +
  "de(r.value),message:\"\"}:{code:e.decode(r.value),message:e.decode(ne(t,r.end,18).value)}}var I=class{#e=new Uin" +
  "t8Array(E);#r=0;#t=new Uint8Array(0);#n=0;read(e,r){let n=0;for(;n<e.length;){if(this.#r<E){let s=e.subarray(n" +
  ",n+E-this.#r);if(this.#e.set(s,this.#r),this.#r+=s.length,n+=s.length,this.#r<E)return;this.#o()}let o=e.subar" +
  "ray(n,n+this.#t.length-this.#n);n+=o.length,o.length===this.#t.length?this.#s(o,r):(this.#t.set(o,this.#n),thi" +
  "s.#n+=o.length,this.#n===this.#t.length&&this.#s(this.#t,r))}}#o(){let e=new DataView(this.#e.buffer).getUint3" +
  "2(1);if(e===0||e>Se)throw new f(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#t.l" +
  "ength!==e&&(this.#t=new Uint8Array(e)),this.#n=0}#s(e,r){this.#r=0,r(this.#e[0]??0,e)}};function L(t){let e=ne" +
  "w Uint8Array(t.reduce((n,{length:o})=>n+o,0)),r=0;for(let n of t)e.set(n,r),r+=n.length;return e}function te(t" +
  ",e){let r=[t];for(let n=e;n>0||r.length===1;n>>>=7)r.push(n>127?n&127|128:n);return Uint8Array.from(r)}functio" +
  "n ne(t,e,r){if(t[e]!==r)throw new f(\"protocol_error\",\"A message without the field that it must have\");let[n,o]" +
  "=[0,e+1];for(let s=1;s<=2**14;s*=128){let l=t[o++]??0;if(n+=(l&127)*s,l<128){if(n>t.length-o)break;return{valu" +
  "e:t.subarray(o,o+n),end:o+n}}}throw new f(\"protocol_error\",\"A field goes beyond the end of its message\")}funct" +
  "ion Te(t,e,r){new DataView(t.buffer,t.byteOffset).setUint32(e,r)}var Me=\"static.relay.v1.ErrorDetail\";function" +
  " se(t,e){let r=Re(t),{message:n,details:o}=oe(r.error??r);for(let s of Array.isArray(o)?o:[]){let{type:l,value" +
  ":u}=oe(s);if(!(l!==Me||typeof u!=\"string\"))try{let c=pe(Uint8Array.from(atob(u),a=>a.charCodeAt(0)));if(k(c.co" +
  "de))return{code:c.code,message:c.message}}catch{}}return{message:typeof n==\"string\"?n.slice(0,1024):e}}functio" +
  "n Re(t){try{return oe(JSON.parse(t))}catch{return{}}}function oe(t){return typeof t==\"object\"&&t!==null?t:{}}f" +
  "unction A(t){let e=[];for(let r=t;r!==void 0&&e.length<3;r=r instanceof Error?r.cause:void 0){let n=r instance" +
  "of Error?r.message:String(r);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var Oe=32,We=1e3" +
  ",Ie=64*1024,Le={\"connect-protocol-version\":\"1\"};function fe(t){let{openHttp:e,unusable:r,randomBytes:n}=t;retu" +
  "rn{transport:\"cells\",carrier:\"tcp\",unusable:r,connect:(o,s)=>{let l=e(o.trust),u=new AbortController;u.signal." +
  "addEventListener(\"abort\",()=>l.close());let c=Ke(l,o,u.signal),a=n(Oe),y=c(\"CellDown\",\"application/connect+pro" +
  "to\",ce(he(a))),v=(M,D)=>c(\"CellUp\",\"application/proto\",ye(a,M,D)),_=new ie(y,v,u,t);return s.aborted&&_.close(" +
  "),Promise.resolve(_)}}}function Ke(t,{host:e,port:r},n){let o=`${e.includes(\":\")?`[${e}]`:e}:${r}`;return asyn" +
  "c(s,l,u)=>{let c=await t.request(`https://${o}/static.relay.v1.Relay/${s}`,{method:\"POST\",headers:{...Le,\"cont" +
  "ent-type\":l},body:u,signal:n,redirect:\"error\",credentials:\"omit\",cache:\"no-store\"});if(c.status===200)return c" +
  ";let a=await j(c,Ie)??\"\",{code:y,message:v}=se(a,`The relay returned HTTP status ${c.status} for ${s}`);throw " +
  "re(y??\"transport_error\",v)}}var ie=class{#e;#r;#t;#n;#o=new Set;#s=new I;#a=0;#i=()=>{};closed;constructor(e,r" +
  ",n,o){this.#e=e.then(s=>s.body?.getReader()),this.#e.catch(()=>{}),this.#r=r,this.#t=o,this.#n=n,this.closed=n" +
  "ew Promise(s=>this.#i=s)}async read(){try{for(;;){let e=await(await this.#e)?.read();if(e?.value===void 0)retu" +
  "rn this.#d({message:\"the connection was cut off\"});let{cells:r,end:n}=this.#u(e.value);if(n!==void 0&&this.#d(" +
  "n),r.length>0)return L(r);if(n!==void 0)return}}catch(e){return this.#d({message:A(e)})}}async write(e,r){for(" +
  "let n=0;n<e.length;n+=r){this.#n.signal.throwIfAborted();let o=this.#c(e.subarray(n,n+r)).finally(()=>this.#o." +
  "delete(o));this.#o.add(o),this.#o.size>=this.#t.callsAtOnce&&await Promise.race(this.#o)}this.#n.signal.throwI" +
  "fAborted()}async#c(e){try{await(await this.#r(++this.#a,e)).arrayBuffer()}catch(r){this.#d({message:A(r)})}}cl" +
  "ose(){let e={message:\"it was closed by this side\"};if(this.#o.size===0)return this.#d(e);this.#i(e);let r=this" +
  ".#t.after(We,()=>this.#d(e));Promise.all(this.#o).then(()=>{r(),this.#d(e)})}#u(e){let r=[],n;return this.#s.r" +
  "ead(e,(o,s)=>{o===0?r.push(ue(s).slice()):n=o===le?Fe(s):{message:\"compressed cells were not asked for\"}}),{ce" +
  "lls:r,end:n}}#d(e){this.#i(e),this.#n.abort(re(\"transport_error\",e.message))}};function Fe(t){return se(new Te" +
  "xtDecoder().decode(t),\"the relay ended the stream\")}var K=class{#e=new Map;#r;#t=1/0;#n=0;after(e,r){let n=Mat" +
  "h.ceil((performance.now()+e)/250),o={run:r},s=this.#e.get(n);return s===void 0?this.#e.set(n,new Set([o])):s.a" +
  "dd(o),this.#n++,n<this.#t?this.#a(n):this.#n===1&&this.#s(!0),()=>{this.#o(n,o)}}#o(e,r){let n=this.#e.get(e);" +
  "return n===void 0||!n.delete(r)?!1:(n.size===0&&this.#e.delete(e),this.#n--,this.#n===0&&this.#s(!1),!0)}#s(e)" +
  "{typeof this.#r==\"object\"&&(e?this.#r.ref():this.#r.unref())}#a(e){clearTimeout(this.#r),this.#t=e;let r=Math." +
  "max(0,e*250-performance.now());this.#r=setTimeout(()=>this.#i(),Math.min(r,2147483647))}#i(){this.#r=void 0,th" +
  "is.#t=1/0;let e=performance.now(),r=1/0;for(let[n,o]of this.#e)if(n*250>e)r=Math.min(r,n);else for(let s of o)" +
  "queueMicrotask(()=>this.#o(n,s)&&s.run());r<1/0&&this.#a(r)}};function me(){return Date.now()}var He=5e3,De=ne" +
  "w K;function B(t,e){if(t>=He)return De.after(t,e);let r=setTimeout(e,t);return()=>clearTimeout(r)}function F(t" +
  "){return crypto.getRandomValues(new Uint8Array(t))}function qe(){return{request:(t,e)=>fetch(t,e),close:()=>{}" +
  "}}var $e=16,ge=fe({openHttp:qe,unusable:Ne,randomBytes:F,callsAtOnce:$e,after:B});function Ne({caCerts:t,certi" +
  "ficateHashes:e}){return t.length>0||e.length>0?\"a browser's fetch trusts only what the browser trusts; tls opt" +
  "ions do not apply\":void 0}var je=1500,Ve=64*1024;function be(t){let e=t.readable.getReader({mode:\"byob\"}),r=t." +
  "writable.getWriter();r.closed.catch(()=>{});let n=new ArrayBuffer(Ve),o=()=>{},s=new Promise(a=>o=a),l,u=a=>{l" +
  "?.(),o(a)};t.closed.then(({closeCode:a=0})=>u(Je(a)),a=>u({message:A(a)}));let c=()=>{r.close().catch(()=>{})," +
  "l??=t.after(je,()=>{t.close(0),o({message:\"the relay ended the stream\"})})};return{read:async()=>{try{let{valu" +
  "e:a}=await e.read(new Uint8Array(n));if(a!==void 0&&a.length>0)return n=a.buffer,a}catch{}c()},write:async a=>" +
  "{try{await r.write(a)}catch(y){throw c(),y}},close:a=>{o({message:\"it was closed by this side\"}),a===0?c():t.c" +
  "lose(a)},closed:s}}function Je(t){let e=q(t);return e===void 0?{message:\"the relay closed the connection\"}:{co" +
  "de:e,message:`the relay closed the connection with ${e}`}}var we={transport:\"webtransport\",carrier:\"udp\",unusa" +
  "ble:({caCerts:t})=>xe()===void 0?\"this browser has no WebTransport\":t.length>0?\"a browser takes no certificate" +
  "s; give tls.certificateHashes\":void 0,connect:async({host:t,port:e,trust:r},n)=>{let o=xe();if(o===void 0)thro" +
  "w new Error(\"this browser has no WebTransport\");n.throwIfAborted();let s=r.certificateHashes.map(y=>({algorith" +
  "m:\"sha-256\",value:y})),l=`${t.includes(\":\")?`[${t}]`:t}:${e}`,u=new o(`https://${l}/`,{...s.length>0&&{serverC" +
  "ertificateHashes:s}});u.closed.catch(()=>{});let c=y=>u.close({closeCode:y}),a=()=>c(0);n.addEventListener(\"ab" +
  "ort\",a);try{await u.ready;let{readable:y,writable:v}=await u.createBidirectionalStream();return be({readable:y" +
  ",writable:v,closed:u.closed,close:c,after:B})}catch(y){throw n.aborted?n.reason:y}finally{n.removeEventListene" +
  "r(\"abort\",a)}}};function xe(){return globalThis.WebTransport}var H=class{#e=new Map;offer(e,r){this.#e.delete(" +
  "e),this.#e.set(e,r)}take(e){for(let[r,n]of this.#e)if(!(n.length>e))return this.#e.delete(r),n}};var ze=2e3;fu" +
  "nction ve(t,e){let r,n,o=0,s=new H,l=a=>{t.post({kind:\"written\",takenBytes:o-a.pendingBytes,counts:a.counts})}" +
  ",u=async({transport:a,target:y,isTapped:v})=>{let _=e.connectors.find(x=>x.transport===a);if(_===void 0)throw " +
  "new Error(`no way to connect by ${a} in a thread of its own`);let M=r=await _.connect(y,new AbortController()." +
  "signal),D=n=new P({cellBytes:m.cellBytes,write:(x,ae)=>(v&&t.post({kind:\"sent\",cells:x.slice(),cellBytes:ae})," +
  "M.write(x,ae)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32" +
  ",rider:x=>s.take(x),onWritten:()=>l(D),onFailed:()=>t.post({kind:\"failed\"})});M.closed.then(x=>t.post({kind:\"c" +
  "losed\",end:x})),t.post({kind:\"connected\"})},c=async()=>{let a=await r?.read();t.post({kind:\"chunk\",bytes:a?.sl" +
  "ice()})};t.listen(a=>{switch(a.kind){case\"connect\":return void u(a).catch(y=>t.post({kind:\"refused\",message:A(" +
  "y)}));case\"push\":return o+=a.envelope.length+p,n?.push(a.lane,a.envelope);case\"offer\":return s.offer(a.key,a.e" +
  "nvelope);case\"cellBytes\":return n?.setCellBytes(a.cellBytes);case\"configure\":return n?.configure(a.mode,a.inte" +
  "rvalMs);case\"covering\":return n?.setCovering(a.covering);case\"flush\":return void n?.flush(a.timeoutMs).then(y=" +
  ">{t.post({kind:\"flushed\",id:a.id,flushed:y})});case\"read\":return void c();case\"stop\":return n?.stop();case\"clo" +
  "se\":return r?.close(a.closeCode),void e.after(ze,e.exit)}})}function Ae(t){let e=globalThis;ve({post:r=>e.post" +
  "Message(r),listen:r=>{e.onmessage=({data:n})=>r(n)}},{connectors:t,nowMs:me,after:B,randomBytes:F,exit:()=>e.c" +
  "lose()})}Ae([we,ge]);\n";
