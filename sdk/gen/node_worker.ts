/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var oe=Object.create;var F=Object.defineProperty;var ie=Object.getOwnPropertyDescriptor;var se=Object.getOwnPr" +
  "opertyNames;var ae=Object.getPrototypeOf,de=Object.prototype.hasOwnProperty;var le=(r,e,t,n)=>{if(e&&typeof e=" +
  "=\"object\"||typeof e==\"function\")for(let o of se(e))!de.call(r,o)&&o!==t&&F(r,o,{get:()=>e[o],enumerable:!(n=ie" +
  "(e,o))||n.enumerable});return r};var ce=(r,e,t)=>(t=r!=null?oe(ae(r)):{},le(e||!r||!r.__esModule?F(t,\"default\"" +
  ",{value:r,enumerable:!0}):t,r));var te=ce(require(\"node:process\")),H=require(\"node:worker_threads\");var i={inv" +
  "alidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrec" +
  "ondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},s=(r,e,t,n" +
  ")=>({http:r,grpc:e,close:t,errorClass:n,retryable:!1}),u=(...r)=>({...s(...r),retryable:!0}),M={join_timeout:u" +
  "(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:s(401,i.unauthenticated,258,\"AuthError\"),auth_key_in" +
  "valid:s(401,i.unauthenticated,259,\"AuthError\"),transport_error:u(502,i.unavailable,260,\"TransportError\"),conne" +
  "ction_error:u(502,i.unavailable,261,\"TransportError\"),listener_died:s(500,i.internal,262,\"TransportError\"),cha" +
  "nnel_error:s(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:s(429,i.resourceExhausted,264,\"QuotaExce" +
  "ededError\"),mls_error:s(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:s(400,i.invalidArgument,272,\"" +
  "InvalidArgumentError\"),not_found:s(404,i.notFound,273,\"ChannelError\"),method_not_allowed:s(405,i.unimplemented" +
  ",274,\"InvalidArgumentError\"),payload_too_large:s(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_medi" +
  "a_type:s(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:u(429,i.resourceExhausted,277,\"Unavail" +
  "ableError\"),internal:s(500,i.internal,278,\"InternalError\"),overloaded:u(503,i.unavailable,279,\"UnavailableErro" +
  "r\"),email_taken:s(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:s(409,i.resourceExhausted,289,\"AuthEr" +
  "ror\"),account_suspended:s(403,i.permissionDenied,290,\"AuthError\"),conflict:s(409,i.aborted,291,\"AuthError\"),co" +
  "de_invalid:s(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:s(403,i.permissionDenied,293,\"AuthError\"),prot" +
  "ocol_error:s(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:s(400,i.failedPrecondition,305,\"T" +
  "ransportError\"),unknown_operation:s(404,i.unimplemented,306,\"TransportError\"),session_expired:s(401,i.unauthen" +
  "ticated,307,\"AuthError\"),session_replaced:s(409,i.aborted,308,\"TransportError\"),slow_reader:u(429,i.resourceEx" +
  "hausted,309,\"UnavailableError\"),relay_draining:u(503,i.unavailable,310,\"UnavailableError\"),certificate_changed" +
  ":s(502,i.failedPrecondition,311,\"TransportError\"),name_taken:s(409,i.alreadyExists,320,\"ChannelError\"),epoch_c" +
  "onflict:u(409,i.aborted,321,\"MlsError\"),not_allowed:s(403,i.permissionDenied,322,\"ChannelError\"),member_limit_" +
  "reached:s(409,i.resourceExhausted,323,\"ChannelError\"),already_member:s(409,i.alreadyExists,324,\"ChannelError\")" +
  ",queue_full:u(429,i.resourceExhausted,325,\"ChannelError\"),cursor_invalid:s(416,i.outOfRange,326,\"ChannelError\"" +
  "),key_package_invalid:s(400,i.invalidArgument,327,\"MlsError\"),key_package_missing:u(404,i.failedPrecondition,3" +
  "28,\"MlsError\"),join_rejected:s(403,i.permissionDenied,329,\"ChannelError\"),membership_lapsed:s(410,i.failedPrec" +
  "ondition,330,\"ChannelError\"),state_conflict:s(409,i.failedPrecondition,331,\"MlsError\"),storage_full:u(507,i.re" +
  "sourceExhausted,332,\"ChannelError\"),link_invalid:s(400,i.invalidArgument,333,\"InvalidArgumentError\"),removed:s" +
  "(410,i.failedPrecondition,355,\"RemovedError\"),members_must_update:s(409,i.failedPrecondition,334,\"ChannelError" +
  "\"),successor_needed:s(409,i.failedPrecondition,335,\"ChannelError\"),content_invalid:s(400,i.invalidArgument,352" +
  ",\"ChannelError\"),request_timeout:u(504,i.deadlineExceeded,353,\"TransportError\"),remote_error:s(502,i.aborted,3" +
  "54,\"RemoteError\"),store_locked:u(409,i.failedPrecondition,336,\"StoreError\"),store_corrupt:s(500,i.internal,337" +
  ",\"StoreError\"),store_failed:s(500,i.internal,339,\"StoreError\"),passphrase_wrong:s(401,i.unauthenticated,338,\"S" +
  "toreError\")};function W(r){return Object.hasOwn(M,r)}var Be=new Map(Object.entries(M).flatMap(([r,{close:e}])=" +
  ">W(r)?[[e,r]]:[])),p=class extends Error{name=\"WireError\";code;requestId;constructor(e,t,n={}){super(t,n.cause" +
  "===void 0?void 0:{cause:n.cause}),this.code=e,this.requestId=n.requestId}};var f=Object.freeze({cellBytes:4096" +
  ",minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commi" +
  "tBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshake" +
  "EnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUploa" +
  "d:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,owners" +
  "ChangeBytes:2048,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,ide" +
  "ntityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,name" +
  "ComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddr" +
  "essees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,conte" +
  "ntErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777" +
  "216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverInterv" +
  "alMs:10,maxCoverIntervalMs:36e5});var g=3,y=4,w=2,R={control:0,data:1};function _(r){if(!Number.isInteger(r)||" +
  "r<f.minCellBytes||r>f.maxCellBytes)throw new p(\"protocol_error\",`A cell has ${f.minCellBytes} to ${f.maxCellBy" +
  "tes} bytes, not ${r}`);return r}function k(r){if(r===0||r>f.envelopeBytes)throw new p(\"payload_too_large\",`Can" +
  "not send an envelope of ${r} bytes; 1 to ${f.envelopeBytes} are allowed`)}var C=class{#t;#e=[];#r=[];#i=[0,0];" +
  "#n=0;constructor(e){this.#t=_(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell siz" +
  "e while envelopes are waiting\");this.#t=_(e)}get cellBytes(){return this.#t}get pendingBytes(){return this.#n}" +
  "push(e,t){k(t.length),(e===\"control\"?this.#e:this.#r).push(t),this.#n+=t.length+y}next(e){let t=this.#e.length" +
  ">0?R.control:R.data,n=t===R.control?this.#e:this.#r;if(n.length===0)return;let o=e?.length===this.#t?e:new Uin" +
  "t8Array(this.#t);return this.#o(o,n,t),o}#o(e,t,n){let o=g,a=0,l=this.#i[n]??0;for(let c of t){if(l===0){if(e." +
  "length-o<=y)break;he(e,o,c.length),o+=y,l=y}let d=l-y,h=c.subarray(d,d+e.length-o);if(e.set(h,o),o+=h.length,l" +
  "+=h.length,l-y<c.length)break;a++,l=0}let m=o-g;a===1?t.shift():t.splice(0,a),this.#i[n]=l,this.#n-=m,e[0]=n,e" +
  "[1]=m>>8,e[2]=m&255,e.fill(0,o)}};function I(r,e,t){let n=e+w;return r.set(t,n),r[e]=t.length>>8,r[e+1]=t.leng" +
  "th&255,n+t.length}function he(r,e,t){r[e]=t>>>24,r[e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}var ue=64*1024,q=.5,ye=2," +
  "B=class{#t;#e;#r=[];#i=0;#n=0;#o=new Uint8Array(0);#a=\"off\";#d=0;#h;#u=0;#s=!0;#l=!1;#p=!1;#c=!1;#f=new Set;#y" +
  "={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#t=e,this.#e=new C(e.cellBytes)}get pe" +
  "ndingBytes(){return this.#e.pendingBytes+this.#i+this.#n}get counts(){return{...this.#y}}push(e,t){this.#c||(t" +
  "his.#r.length===0?this.#e.push(e,t):(k(t.length),this.#r.push({lane:e,envelope:t}),this.#i+=t.length+y),this.#" +
  "m())}setCellBytes(e){this.#r.push({cellBytes:_(e)}),this.#w()}configure(e,t){if(!this.#c){if(e!==\"off\"&&!(t>0)" +
  ")throw new RangeError(`Cover needs an interval above 0, not ${t}`);this.#h?.(),this.#h=void 0,this.#a=e,this.#" +
  "d=t,this.#l=!1,this.#u=this.#t.nowMs(),e!==\"off\"&&this.#C(),this.#m()}}setCovering(e){this.#s=e}flush(e){retur" +
  "n this.#c?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Promi" +
  "se(t=>{let n=a=>{this.#f.delete(n),o(),t(a)},o=this.#t.after(e,()=>n(!1));this.#f.add(n)})}stop(){this.#c=!0,t" +
  "his.#h?.(),this.#h=void 0,this.#o=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#c||!this.#x" +
  "()||(this.#p=!0,this.#B())}#x(){return this.#l||this.#a!==\"constant\"&&this.#e.pendingBytes>0}async#B(){await v" +
  "oid 0;try{for(;!this.#c&&this.#x();){let e=this.#a===\"constant\"?this.#_():this.#k();if(await this.#t.write(e,t" +
  "his.#e.cellBytes),this.#n=0,this.#c)break;this.#w(),this.#t.onWritten?.()}}catch(e){this.#n=0;let t=this.#c;th" +
  "is.stop(),t||this.#t.onFailed?.(e)}this.#p=!1,this.#E()}#E(){if(!(this.#c||this.pendingBytes>0)){this.#o.lengt" +
  "h>ye*this.#e.cellBytes&&(this.#o=new Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this.#l=!1;let e=this.#g(" +
  "1);return this.#v(e)?e:this.#b(e)}#k(){let{cellBytes:e,pendingBytes:t}=this.#e;if(t===0)return this.#l=!1,this" +
  ".#b(this.#g(1));let n=Math.ceil(t/(e-g))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ue/e)))),a=0;for(;a<o.le" +
  "ngth&&this.#v(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e){let t=e*this.#e.cellBytes;return this.#o.l" +
  "ength<t&&(this.#o=new Uint8Array(t)),this.#o.subarray(0,t)}#v(e){let t=this.#e.pendingBytes;if(this.#e.next(e)" +
  "===void 0)return!1;let n=t-this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.paddingBytes+=e.leng" +
  "th-g-n,this.#A(e,g+n),!0}#b(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,this.#" +
  "A(e.fill(0),g),e}#A(e,t){let{rider:n}=this.#t;if(n!==void 0)for(let o=t;e.length-o>w;){let a=n(e.length-o-w);i" +
  "f(a===void 0)return;o=I(e,o,a)}}#C(){let e=this.#t.nowMs();this.#h=this.#t.after(this.#a===\"poisson\"?this.#U()" +
  ":this.#P(e),()=>{this.#l=this.#s||this.#a===\"constant\"&&this.#e.pendingBytes>0,this.#C(),this.#m()})}#U(){retu" +
  "rn-Math.log(1-this.#t.random())*this.#d}#P(e){this.#u=pe(this.#u,this.#d,e);let t=this.#t.random()*q*this.#d;r" +
  "eturn Math.max((1-q)*this.#d,this.#u-t-e)}#w(){for(;this.#e.pendingBytes===0&&this.#r.length>0;){let e=this.#r" +
  ".findIndex((t,n)=>n>0&&\"cellBytes\"in t);for(let t of this.#r.splice(0,e<0?this.#r.length:e))\"cellBytes\"in t?th" +
  "is.#e.cellBytes=t.cellBytes:(this.#i-=t.envelope.length+y,this.#e.push(t.lane,t.envelope))}}};function pe(r,e," +
  "t){if(t<r-e)return t+e;let n=Math.max(0,Math.floor((t-r)/e));return r+(n+1)*e}function K(r,e){if(r.length!==e." +
  "length)return!1;let t=0;for(let n=0;n<r.length;n++)t|=(r[n]??0)^(e[n]??0);return t===0}function b(r){let e=[];" +
  "for(let t=r;t!==void 0&&e.length<3;t=t instanceof Error?t.cause:void 0){let n=t instanceof Error?t.message:Str" +
  "ing(t);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": \")}var U=class{#t=new Map;offer(e,t){this" +
  ".#t.delete(e),this.#t.set(e,t)}take(e){for(let[t,n]of this.#t)if(!(n.length>e))return this.#t.delete(t),n}};va" +
  "r fe=2e3;function N(r,e){let t,n,o=0,a=new U,l=d=>{r.post({kind:\"written\",takenBytes:o-d.pendingBytes,counts:d" +
  ".counts})},m=async({transport:d,target:h})=>{let E=e.connectors.find(v=>v.transport===d);if(E===void 0)throw n" +
  "ew Error(`no way to connect by ${d} in a thread of its own`);let D=t=await E.connect(h,new AbortController().s" +
  "ignal),re=n=new B({cellBytes:f.cellBytes,write:(v,ne)=>D.write(v,ne),after:e.after,nowMs:e.nowMs,random:()=>ne" +
  "w DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:v=>a.take(v),onWritten:()=>l(re),onFailed:()=>r.p" +
  "ost({kind:\"failed\"})});D.closed.then(v=>r.post({kind:\"closed\",end:v})),r.post({kind:\"connected\"})},c=async()=>" +
  "{let d=await t?.read();r.post({kind:\"chunk\",bytes:d?.slice()})};r.listen(d=>{switch(d.kind){case\"connect\":retu" +
  "rn void m(d).catch(h=>r.post({kind:\"refused\",message:b(h)}));case\"push\":return o+=d.envelope.length+y,n?.push(" +
  "d.lane,d.envelope);case\"offer\":return a.offer(d.key,d.envelope);case\"cellBytes\":return n?.setCellBytes(d.cellB" +
  "ytes);case\"configure\":return n?.configure(d.mode,d.intervalMs);case\"covering\":return n?.setCovering(d.covering" +
  ");case\"flush\":return void n?.flush(d.timeoutMs).then(h=>{r.post({kind:\"flushed\",id:d.id,flushed:h})});case\"rea" +
  "d\":return void c();case\"stop\":return n?.stop();case\"close\":return t?.close(d.closeCode),void e.after(fe,e.exit" +
  ")}})}var x=require(\"node:http2\");var A=5,me=64*1024,$=10;function j(r,e){let t=ge($,e),n=A+t.length+e,o=new Ui" +
  "nt8Array(r.length/e*n);for(let a=0;a<r.length/e;a++){let l=a*n;ve(o,l+1,t.length+e),o.set(t,l+A),o.set(r.subar" +
  "ray(a*e,(a+1)*e),l+A+t.length)}return o}function V(r){let{value:e,end:t}=xe(r,0,$);if(t!==r.length)throw new p" +
  "(\"protocol_error\",\"A cell's message holds more than a cell\");return e}var P=class{#t=new Uint8Array(A);#e=0;#r" +
  "=new Uint8Array(0);#i=0;read(e,t){let n=0;for(;n<e.length;){if(this.#e<A){let a=e.subarray(n,n+A-this.#e);if(t" +
  "his.#t.set(a,this.#e),this.#e+=a.length,n+=a.length,this.#e<A)return;this.#n()}let o=e.subarray(n,n+this.#r.le" +
  "ngth-this.#i);n+=o.length,o.length===this.#r.length?this.#o(o,t):(this.#r.set(o,this.#i),this.#i+=o.length,thi" +
  "s.#i===this.#r.length&&this.#o(this.#r,t))}}#n(){let e=new DataView(this.#t.buffer).getUint32(1);if(e===0||e>m" +
  "e)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#r.length!==e&&(this.#" +
  "r=new Uint8Array(e)),this.#i=0}#o(e,t){this.#e=0,t(this.#t[0]??0,e)}};function z(r){let e=new Uint8Array(r.red" +
  "uce((n,{length:o})=>n+o,0)),t=0;for(let n of r)e.set(n,t),t+=n.length;return e}function ge(r,e){let t=[r];for(" +
  "let n=e;n>0||t.length===1;n>>>=7)t.push(n>127?n&127|128:n);return Uint8Array.from(t)}function xe(r,e,t){if(r[e" +
  "]!==t)throw new p(\"protocol_error\",\"A message without the field that it must have\");let[n,o]=[0,e+1];for(let a" +
  "=1;a<=2**14;a*=128){let l=r[o++]??0;if(n+=(l&127)*a,l<128){if(n>r.length-o)break;return{value:r.subarray(o,o+n" +
  "),end:o+n}}}throw new p(\"protocol_error\",\"A field goes beyond the end of its message\")}function ve(r,e,t){new " +
  "DataView(r.buffer,r.byteOffset).setUint32(e,t)}var J=require(\"node:crypto\"),G=require(\"node:net\"),S=require(\"n" +
  "ode:tls\");function Q({host:r,port:e,trust:t},n,o){return new Promise((a,l)=>{o.throwIfAborted();let m=t.certif" +
  "icateHashes.length>0,c=(0,S.connect)({host:r,port:e,...(0,G.isIP)(r)===0&&{servername:r},ALPNProtocols:[n],min" +
  "Version:\"TLSv1.3\",...t.caCerts.length>0&&{ca:[...S.rootCertificates,...t.caCerts]},rejectUnauthorized:!m}),d=E" +
  "=>{o.removeEventListener(\"abort\",h),c.destroy(),l(E)},h=()=>d(o.reason);o.addEventListener(\"abort\",h),c.once(\"" +
  "error\",d),c.once(\"secureConnect\",()=>{if(m&&!be(c,t))return d(new Error(\"the relay's certificate is none of tl" +
  "s.certificateHashes\"));if(c.alpnProtocol!==n)return d(new Error(`the server does not speak ${n}`));o.removeEve" +
  "ntListener(\"abort\",h),c.removeListener(\"error\",d),a(c)})})}function be(r,{certificateHashes:e}){let t=(0,J.cre" +
  "ateHash)(\"sha256\").update(r.getPeerCertificate().raw).digest();return e.some(n=>K(n,t))}function Y(){return Da" +
  "te.now()}var L=2**31-1;function T(r,e){let t=o=>o>L?setTimeout(()=>n=t(o-L),L):setTimeout(e,o),n=t(r);return()" +
  "=>clearTimeout(n)}function X(r){return crypto.getRandomValues(new Uint8Array(r))}var Z=1024*1024,Ae=1500,ee={t" +
  "ransport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(r,e)=>new O(await Q(r,\"h2\",e),r)},O=class{#t;#e;#r" +
  ";#i=new P;#n;#o=()=>{};#a;closed;constructor(e,{host:t,port:n}){this.closed=new Promise(o=>this.#o=o),this.#t=" +
  "(0,x.connect)(`https://${t.includes(\":\")?`[${t}]`:t}:${n}`,{createConnection:()=>e,settings:{initialWindowSize" +
  ":Z,enablePush:!1}}),this.#t.once(\"connect\",()=>this.#t.setLocalWindowSize(Z)),this.#t.on(\"error\",o=>this.#s({m" +
  "essage:b(o)})),this.#t.on(\"goaway\",()=>this.#t.close()),this.#e=this.#t.request({[x.constants.HTTP2_HEADER_MET" +
  "HOD]:\"POST\",[x.constants.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[x.constants.HTTP2_HEADER_CONTENT" +
  "_TYPE]:\"application/grpc\",[x.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#s({message:b(" +
  "o)})),this.#e.on(\"response\",o=>this.#h(o)),this.#e.on(\"trailers\",o=>this.#u(o)),this.#e.on(\"close\",()=>{this.#" +
  "s({message:\"the connection was cut off\"}),this.#l()}),this.#r=this.#e[Symbol.asyncIterator]()}async read(){try" +
  "{for(;;){let{done:e,value:t}=await this.#r.next();if(e)break;let n=[];if(this.#i.read(t,(o,a)=>{if(o!==0)throw" +
  " new Error(\"compressed cells were not asked for\");n.push(V(a).slice())}),n.length>0)return z(n)}}catch(e){this" +
  ".#s({message:b(e)})}this.#d()}write(e,t){return new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(thi" +
  "s.#n.message));this.#e.write(j(e,t),a=>{if(!a)return n();this.#s({message:b(a)}),o(a)})})}close(e){this.#o({me" +
  "ssage:\"it was closed by this side\"}),e===0?this.#d():this.#l()}#d(){this.#e.end(),this.#a??=T(Ae,()=>this.#l()" +
  ")}#h(e){let t=e[x.constants.HTTP2_HEADER_STATUS];if(t!==200)return this.#s({message:`The relay returned HTTP s" +
  "tatus ${String(t)} for Session`});e[\"grpc-status\"]!==void 0&&this.#u(e)}#u(e){let{\"grpc-status\":t,\"grpc-messag" +
  "e\":n}=e,o=typeof n==\"string\"&&n!==\"\"?Ce(n):\"the relay ended the stream\";this.#s({message:t===\"0\"?\"the relay en" +
  "ded the stream\":o})}#s(e){this.#n===void 0&&(this.#n=e,this.#o(e),this.#d())}#l(){this.#a?.(),this.#a=()=>{},t" +
  "his.#n??={message:\"it was closed by this side\"},this.#e.destroy(),this.#t.destroy()}};function Ce(r){try{retur" +
  "n decodeURIComponent(r).slice(0,1024)}catch{return r.slice(0,1024)}}N({post:r=>H.parentPort?.postMessage(r),li" +
  "sten:r=>{H.parentPort?.on(\"message\",r)}},{connectors:[ee],nowMs:Y,after:T,randomBytes:X,exit:()=>te.default.ex" +
  "it()});\n";
