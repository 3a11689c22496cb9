/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var ie=Object.create;var q=Object.defineProperty;var se=Object.getOwnPropertyDescriptor;var ae=Object.getOwnPr" +
  "opertyNames;var de=Object.getPrototypeOf,le=Object.prototype.hasOwnProperty;var ce=(n,e,t,r)=>{if(e&&typeof e=" +
  "=\"object\"||typeof e==\"function\")for(let o of ae(e))!le.call(n,o)&&o!==t&&q(n,o,{get:()=>e[o],enumerable:!(r=se" +
  "(e,o))||r.enumerable});return n};var he=(n,e,t)=>(t=n!=null?ie(de(n)):{},ce(e||!n||!n.__esModule?q(t,\"default\"" +
  ",{value:n,enumerable:!0}):t,n));var ne=he(require(\"node:process\")),H=require(\"node:worker_threads\");var i={inv" +
  "alidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrec" +
  "ondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},a=(n,e,t,r" +
  ")=>({http:n,grpc:e,close:t,errorClass:r,retryable:!1}),u=(...n)=>({...a(...n),retryable:!0}),R={join_timeout:u" +
  "(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:a(401,i.unauthenticated,258,\"AuthError\"),auth_key_in" +
  "valid:a(401,i.unauthenticated,259,\"AuthError\"),transport_error:u(502,i.unavailable,260,\"TransportError\"),conne" +
  "ction_error:u(502,i.unavailable,261,\"TransportError\"),listener_died:a(500,i.internal,262,\"TransportError\"),cha" +
  "nnel_error:a(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:a(429,i.resourceExhausted,264,\"QuotaExce" +
  "ededError\"),mls_error:a(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:a(400,i.invalidArgument,272,\"" +
  "InvalidArgumentError\"),not_found:a(404,i.notFound,273,\"ChannelError\"),method_not_allowed:a(405,i.unimplemented" +
  ",274,\"InvalidArgumentError\"),payload_too_large:a(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_medi" +
  "a_type:a(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:u(429,i.resourceExhausted,277,\"Unavail" +
  "ableError\"),internal:a(500,i.internal,278,\"InternalError\"),overloaded:u(503,i.unavailable,279,\"UnavailableErro" +
  "r\"),email_taken:a(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:a(409,i.resourceExhausted,289,\"AuthEr" +
  "ror\"),account_suspended:a(403,i.permissionDenied,290,\"AuthError\"),conflict:a(409,i.aborted,291,\"AuthError\"),co" +
  "de_invalid:a(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:a(403,i.permissionDenied,293,\"AuthError\"),prot" +
  "ocol_error:a(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:a(400,i.failedPrecondition,305,\"T" +
  "ransportError\"),unknown_operation:a(404,i.unimplemented,306,\"TransportError\"),session_expired:a(401,i.unauthen" +
  "ticated,307,\"AuthError\"),session_replaced:a(409,i.aborted,308,\"TransportError\"),slow_reader:u(429,i.resourceEx" +
  "hausted,309,\"UnavailableError\"),relay_draining:u(503,i.unavailable,310,\"UnavailableError\"),certificate_changed" +
  ":a(502,i.failedPrecondition,311,\"TransportError\"),name_taken:a(409,i.alreadyExists,320,\"ChannelError\"),epoch_c" +
  "onflict:u(409,i.aborted,321,\"MlsError\"),not_allowed:a(403,i.permissionDenied,322,\"ChannelError\"),member_limit_" +
  "reached:a(409,i.resourceExhausted,323,\"ChannelError\"),already_member:a(409,i.alreadyExists,324,\"ChannelError\")" +
  ",queue_full:u(429,i.resourceExhausted,325,\"ChannelError\"),cursor_invalid:a(416,i.outOfRange,326,\"ChannelError\"" +
  "),key_package_invalid:a(400,i.invalidArgument,327,\"MlsError\"),key_package_missing:u(404,i.failedPrecondition,3" +
  "28,\"MlsError\"),join_rejected:a(403,i.permissionDenied,329,\"ChannelError\"),membership_lapsed:a(410,i.failedPrec" +
  "ondition,330,\"ChannelError\"),state_conflict:a(409,i.failedPrecondition,331,\"MlsError\"),storage_full:u(507,i.re" +
  "sourceExhausted,332,\"ChannelError\"),link_invalid:a(400,i.invalidArgument,333,\"InvalidArgumentError\"),removed:a" +
  "(410,i.failedPrecondition,355,\"RemovedError\"),members_must_update:a(409,i.failedPrecondition,334,\"ChannelError" +
  "\"),successor_needed:a(409,i.failedPrecondition,335,\"ChannelError\"),content_invalid:a(400,i.invalidArgument,352" +
  ",\"ChannelError\"),request_timeout:u(504,i.deadlineExceeded,353,\"TransportError\"),remote_error:a(502,i.aborted,3" +
  "54,\"RemoteError\"),store_locked:u(409,i.failedPrecondition,336,\"StoreError\"),store_corrupt:a(500,i.internal,337" +
  ",\"StoreError\"),store_failed:a(500,i.internal,339,\"StoreError\"),passphrase_wrong:a(401,i.unauthenticated,338,\"S" +
  "toreError\")};function N(n){return Object.hasOwn(R,n)}var ke=new Map(Object.entries(R).flatMap(([n,{close:e}])=" +
  ">N(n)?[[e,n]]:[])),p=class extends Error{name=\"WireError\";code;requestId;constructor(e,t,r={}){super(t,r.cause" +
  "===void 0?void 0:{cause:r.cause}),this.code=e,this.requestId=r.requestId}};var f=Object.freeze({cellBytes:4096" +
  ",minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commi" +
  "tBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshake" +
  "EnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUploa" +
  "d:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,owners" +
  "ChangeBytes:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPer" +
  "Session:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCod" +
  "eBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:1" +
  "27,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBy" +
  "tes:1024,contentErrorBytes:64,contentConfirmationBytes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,win" +
  "dowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7," +
  "minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var x=3,y=4,C=2,I={control:0,data:1};function E(n){if(!Number." +
  "isInteger(n)||n<f.minCellBytes||n>f.maxCellBytes)throw new p(\"protocol_error\",`A cell has ${f.minCellBytes} to" +
  " ${f.maxCellBytes} bytes, not ${n}`);return n}function _(n){if(n===0||n>f.envelopeBytes)throw new p(\"payload_t" +
  "oo_large\",`Cannot send an envelope of ${n} bytes; 1 to ${f.envelopeBytes} are allowed`)}var w=class{#t;#e=[];#" +
  "r=[];#o=[0,0];#n=0;constructor(e){this.#t=E(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot chang" +
  "e the cell size while envelopes are waiting\");this.#t=E(e)}get cellBytes(){return this.#t}get pendingBytes(){r" +
  "eturn this.#n}push(e,t){_(t.length),(e===\"control\"?this.#e:this.#r).push(t),this.#n+=t.length+y}next(e){let t=" +
  "this.#e.length>0?I.control:I.data,r=t===I.control?this.#e:this.#r;if(r.length===0)return;let o=e?.length===thi" +
  "s.#t?e:new Uint8Array(this.#t);return this.#i(o,r,t),o}#i(e,t,r){let o=x,s=0,l=this.#o[r]??0;for(let c of t){i" +
  "f(l===0){if(e.length-o<=y)break;ue(e,o,c.length),o+=y,l=y}let d=l-y,h=c.subarray(d,d+e.length-o);if(e.set(h,o)" +
  ",o+=h.length,l+=h.length,l-y<c.length)break;s++,l=0}let m=o-x;s===1?t.shift():t.splice(0,s),this.#o[r]=l,this." +
  "#n-=m,e[0]=r,e[1]=m>>8,e[2]=m&255,e.fill(0,o)}};function K(n,e,t){let r=e+C;return n.set(t,r),n[e]=t.length>>8" +
  ",n[e+1]=t.length&255,r+t.length}function ue(n,e,t){n[e]=t>>>24,n[e+1]=t>>>16,n[e+2]=t>>>8,n[e+3]=t}var ye=64*1" +
  "024,$=.5,pe=2,B=class{#t;#e;#r=[];#o=0;#n=0;#i=new Uint8Array(0);#s=\"off\";#a=0;#h;#u=0;#d=!0;#l=!1;#p=!1;#c=!1" +
  ";#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#t=e,this.#e=new w(e.cel" +
  "lBytes)}get pendingBytes(){return this.#e.pendingBytes+this.#o+this.#n}get counts(){return{...this.#y}}push(e," +
  "t){this.#c||(this.#r.length===0?this.#e.push(e,t):(_(t.length),this.#r.push({lane:e,envelope:t}),this.#o+=t.le" +
  "ngth+y),this.#m())}setCellBytes(e){this.#r.push({cellBytes:E(e)}),this.#C()}configure(e,t){if(!this.#c){if(e!=" +
  "=\"off\"&&!(t>0))throw new RangeError(`Cover needs an interval above 0, not ${t}`);this.#h?.(),this.#h=void 0,th" +
  "is.#s=e,this.#a=t,this.#l=!1,this.#u=this.#t.nowMs(),e!==\"off\"&&this.#w(),this.#m()}}setCovering(e){this.#d=e}" +
  "flush(e){return this.#c?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve" +
  "(!0):new Promise(t=>{let r=s=>{this.#f.delete(r),o(),t(s)},o=this.#t.after(e,()=>r(!1));this.#f.add(r)})}stop(" +
  "){this.#c=!0,this.#h?.(),this.#h=void 0,this.#i=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||thi" +
  "s.#c||!this.#x()||(this.#p=!0,this.#B())}#x(){return this.#l||this.#s!==\"constant\"&&this.#e.pendingBytes>0}asy" +
  "nc#B(){await void 0;try{for(;!this.#c&&this.#x();){let e=this.#s===\"constant\"?this.#_():this.#k();if(await thi" +
  "s.#t.write(e,this.#e.cellBytes),this.#n=0,this.#c)break;this.#C(),this.#t.onWritten?.()}}catch(e){this.#n=0;le" +
  "t t=this.#c;this.stop(),t||this.#t.onFailed?.(e)}this.#p=!1,this.#E()}#E(){if(!(this.#c||this.pendingBytes>0))" +
  "{this.#i.length>pe*this.#e.cellBytes&&(this.#i=new Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this.#l=!1;" +
  "let e=this.#g(1);return this.#v(e)?e:this.#b(e)}#k(){let{cellBytes:e,pendingBytes:t}=this.#e;if(t===0)return t" +
  "his.#l=!1,this.#b(this.#g(1));let r=Math.ceil(t/(e-x))+1,o=this.#g(Math.min(r,Math.max(1,Math.floor(ye/e)))),s" +
  "=0;for(;s<o.length&&this.#v(o.subarray(s,s+e));)s+=e;return o.subarray(0,s)}#g(e){let t=e*this.#e.cellBytes;re" +
  "turn this.#i.length<t&&(this.#i=new Uint8Array(t)),this.#i.subarray(0,t)}#v(e){let t=this.#e.pendingBytes;if(t" +
  "his.#e.next(e)===void 0)return!1;let r=t-this.#e.pendingBytes;return this.#n+=r,this.#y.cells++,this.#y.paddin" +
  "gBytes+=e.length-x-r,this.#A(e,x+r),!0}#b(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e" +
  ".length,this.#A(e.fill(0),x),e}#A(e,t){let{rider:r}=this.#t;if(r!==void 0)for(let o=t;e.length-o>C;){let s=r(e" +
  ".length-o-C);if(s===void 0)return;o=K(e,o,s)}}#w(){let e=this.#t.nowMs();this.#h=this.#t.after(this.#s===\"pois" +
  "son\"?this.#U():this.#P(e),()=>{this.#l=this.#d||this.#s===\"constant\"&&this.#e.pendingBytes>0,this.#w(),this.#m" +
  "()})}#U(){return-Math.log(1-this.#t.random())*this.#a}#P(e){this.#u=fe(this.#u,this.#a,e);let t=this.#t.random" +
  "()*$*this.#a;return Math.max((1-$)*this.#a,this.#u-t-e)}#C(){for(;this.#e.pendingBytes===0&&this.#r.length>0;)" +
  "{let e=this.#r.findIndex((t,r)=>r>0&&\"cellBytes\"in t);for(let t of this.#r.splice(0,e<0?this.#r.length:e))\"cel" +
  "lBytes\"in t?this.#e.cellBytes=t.cellBytes:(this.#o-=t.envelope.length+y,this.#e.push(t.lane,t.envelope))}}};fu" +
  "nction fe(n,e,t){if(t<n-e)return t+e;let r=Math.max(0,Math.floor((t-n)/e));return n+(r+1)*e}function O(n,e){if" +
  "(n.length!==e.length)return!1;let t=0;for(let r=0;r<n.length;r++)t|=(n[r]??0)^(e[r]??0);return t===0}function " +
  "b(n){let e=[];for(let t=n;t!==void 0&&e.length<3;t=t instanceof Error?t.cause:void 0){let r=t instanceof Error" +
  "?t.message:String(t);r!==\"\"&&!e.some(o=>o.includes(r))&&e.push(r)}return e.join(\": \")}var k=class{#t=new Map;o" +
  "ffer(e,t){this.#t.delete(e),this.#t.set(e,t)}take(e){for(let[t,r]of this.#t)if(!(r.length>e))return this.#t.de" +
  "lete(t),r}};var me=2e3;function j(n,e){let t,r,o=0,s=new k,l=d=>{n.post({kind:\"written\",takenBytes:o-d.pending" +
  "Bytes,counts:d.counts})},m=async({transport:d,target:h,isTapped:T})=>{let W=e.connectors.find(g=>g.transport==" +
  "=d);if(W===void 0)throw new Error(`no way to connect by ${d} in a thread of its own`);let D=t=await W.connect(" +
  "h,new AbortController().signal),oe=r=new B({cellBytes:f.cellBytes,write:(g,F)=>(T&&n.post({kind:\"sent\",cells:g" +
  ".slice(),cellBytes:F}),D.write(g,F)),after:e.after,nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buff" +
  "er).getUint32(0)/2**32,rider:g=>s.take(g),onWritten:()=>l(oe),onFailed:()=>n.post({kind:\"failed\"})});D.closed." +
  "then(g=>n.post({kind:\"closed\",end:g})),n.post({kind:\"connected\"})},c=async()=>{let d=await t?.read();n.post({k" +
  "ind:\"chunk\",bytes:d?.slice()})};n.listen(d=>{switch(d.kind){case\"connect\":return void m(d).catch(h=>n.post({ki" +
  "nd:\"refused\",message:b(h)}));case\"push\":return o+=d.envelope.length+y,r?.push(d.lane,d.envelope);case\"offer\":r" +
  "eturn s.offer(d.key,d.envelope);case\"cellBytes\":return r?.setCellBytes(d.cellBytes);case\"configure\":return r?." +
  "configure(d.mode,d.intervalMs);case\"covering\":return r?.setCovering(d.covering);case\"flush\":return void r?.flu" +
  "sh(d.timeoutMs).then(h=>{n.post({kind:\"flushed\",id:d.id,flushed:h})});case\"read\":return void c();case\"stop\":re" +
  "turn r?.stop();case\"close\":return t?.close(d.closeCode),void e.after(me,e.exit)}})}var v=require(\"node:http2\")" +
  ";var A=5,ge=64*1024,V=10;function z(n,e){let t=xe(V,e),r=A+t.length+e,o=new Uint8Array(n.length/e*r);for(let s" +
  "=0;s<n.length/e;s++){let l=s*r;be(o,l+1,t.length+e),o.set(t,l+A),o.set(n.subarray(s*e,(s+1)*e),l+A+t.length)}r" +
  "eturn o}function J(n){let{value:e,end:t}=ve(n,0,V);if(t!==n.length)throw new p(\"protocol_error\",\"A cell's mess" +
  "age holds more than a cell\");return e}var U=class{#t=new Uint8Array(A);#e=0;#r=new Uint8Array(0);#o=0;read(e,t" +
  "){let r=0;for(;r<e.length;){if(this.#e<A){let s=e.subarray(r,r+A-this.#e);if(this.#t.set(s,this.#e),this.#e+=s" +
  ".length,r+=s.length,this.#e<A)return;this.#n()}let o=e.subarray(r,r+this.#r.length-this.#o);r+=o.length,o.leng" +
  "th===this.#r.length?this.#i(o,t):(this.#r.set(o,this.#o),this.#o+=o.length,this.#o===this.#r.length&&this.#i(t" +
  "his.#r,t))}}#n(){let e=new DataView(this.#t.buffer).getUint32(1);if(e===0||e>ge)throw new p(\"protocol_error\",`" +
  "A message of ${e} bytes where cells are expected`);this.#r.length!==e&&(this.#r=new Uint8Array(e)),this.#o=0}#" +
  "i(e,t){this.#e=0,t(this.#t[0]??0,e)}};function G(n){let e=new Uint8Array(n.reduce((r,{length:o})=>r+o,0)),t=0;" +
  "for(let r of n)e.set(r,t),t+=r.length;return e}function xe(n,e){let t=[n];for(let r=e;r>0||t.length===1;r>>>=7" +
  ")t.push(r>127?r&127|128:r);return Uint8Array.from(t)}function ve(n,e,t){if(n[e]!==t)throw new p(\"protocol_erro" +
  "r\",\"A message without the field that it must have\");let[r,o]=[0,e+1];for(let s=1;s<=2**14;s*=128){let l=n[o++]" +
  "??0;if(r+=(l&127)*s,l<128){if(r>n.length-o)break;return{value:n.subarray(o,o+r),end:o+r}}}throw new p(\"protoco" +
  "l_error\",\"A field goes beyond the end of its message\")}function be(n,e,t){new DataView(n.buffer,n.byteOffset)." +
  "setUint32(e,t)}var Q=require(\"node:crypto\"),Y=require(\"node:net\"),P=require(\"node:tls\");function X({host:n,por" +
  "t:e,trust:t},r,o){return new Promise((s,l)=>{o.throwIfAborted();let m=t.certificateHashes.length>0,c=(0,P.conn" +
  "ect)({host:n,port:e,...(0,Y.isIP)(n)===0&&{servername:n},ALPNProtocols:[r],minVersion:\"TLSv1.3\",...t.caCerts.l" +
  "ength>0&&{ca:[...P.rootCertificates,...t.caCerts]},rejectUnauthorized:!m}),d=T=>{o.removeEventListener(\"abort\"" +
  ",h),c.destroy(),l(T)},h=()=>d(o.reason);o.addEventListener(\"abort\",h),c.once(\"error\",d),c.once(\"secureConnect\"" +
  ",()=>{if(m&&!Ae(c,t))return d(new Error(\"the relay's certificate is none of tls.certificateHashes\"));if(c.alpn" +
  "Protocol!==r)return d(new Error(`the server does not speak ${r}`));o.removeEventListener(\"abort\",h),c.removeLi" +
  "stener(\"error\",d),s(c)})})}function Ae(n,{certificateHashes:e}){let t=(0,Q.createHash)(\"sha256\").update(n.getP" +
  "eerCertificate().raw).digest();return e.some(r=>O(r,t))}var S=class{#t=new Map;#e;#r=1/0;#o=0;after(e,t){let r" +
  "=Math.ceil((performance.now()+e)/250),o={run:t},s=this.#t.get(r);return s===void 0?this.#t.set(r,new Set([o]))" +
  ":s.add(o),this.#o++,r<this.#r?this.#s(r):this.#o===1&&this.#i(!0),()=>{this.#n(r,o)}}#n(e,t){let r=this.#t.get" +
  "(e);return r===void 0||!r.delete(t)?!1:(r.size===0&&this.#t.delete(e),this.#o--,this.#o===0&&this.#i(!1),!0)}#" +
  "i(e){typeof this.#e==\"object\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeout(this.#e),this.#r=e;let t=M" +
  "ath.max(0,e*250-performance.now());this.#e=setTimeout(()=>this.#a(),Math.min(t,2147483647))}#a(){this.#e=void " +
  "0,this.#r=1/0;let e=performance.now(),t=1/0;for(let[r,o]of this.#t)if(r*250>e)t=Math.min(t,r);else for(let s o" +
  "f o)queueMicrotask(()=>this.#n(r,s)&&s.run());t<1/0&&this.#s(t)}};function Z(){return Date.now()}var we=5e3,Ce" +
  "=new S;function M(n,e){if(n>=we)return Ce.after(n,e);let t=setTimeout(e,n);return()=>clearTimeout(t)}function " +
  "ee(n){return crypto.getRandomValues(new Uint8Array(n))}var te=1024*1024,Be=1500,re={transport:\"grpc\",carrier:\"" +
  "tcp\",unusable:()=>{},connect:async(n,e)=>new L(await X(n,\"h2\",e),n)},L=class{#t;#e;#r;#o=new U;#n;#i=()=>{};#s" +
  ";closed;constructor(e,{host:t,port:r}){this.closed=new Promise(o=>this.#i=o),this.#t=(0,v.connect)(`https://${" +
  "t.includes(\":\")?`[${t}]`:t}:${r}`,{createConnection:()=>e,settings:{initialWindowSize:te,enablePush:!1}}),this" +
  ".#t.once(\"connect\",()=>this.#t.setLocalWindowSize(te)),this.#t.on(\"error\",o=>this.#d({message:b(o)})),this.#t." +
  "on(\"goaway\",()=>this.#t.close()),this.#e=this.#t.request({[v.constants.HTTP2_HEADER_METHOD]:\"POST\",[v.constant" +
  "s.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[v.constants.HTTP2_HEADER_CONTENT_TYPE]:\"application/grp" +
  "c\",[v.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({message:b(o)})),this.#e.on(\"respo" +
  "nse\",o=>this.#h(o)),this.#e.on(\"trailers\",o=>this.#u(o)),this.#e.on(\"close\",()=>{this.#d({message:\"the connect" +
  "ion was cut off\"}),this.#l()}),this.#r=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done:e,val" +
  "ue:t}=await this.#r.next();if(e)break;let r=[];if(this.#o.read(t,(o,s)=>{if(o!==0)throw new Error(\"compressed " +
  "cells were not asked for\");r.push(J(s).slice())}),r.length>0)return G(r)}}catch(e){this.#d({message:b(e)})}thi" +
  "s.#a()}write(e,t){return new Promise((r,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));this.#e." +
  "write(z(e,t),s=>{if(!s)return r();this.#d({message:b(s)}),o(s)})})}close(e){this.#i({message:\"it was closed by" +
  " this side\"}),e===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=M(Be,()=>this.#l())}#h(e){let t=e[v.const" +
  "ants.HTTP2_HEADER_STATUS];if(t!==200)return this.#d({message:`The relay returned HTTP status ${String(t)} for " +
  "Session`});e[\"grpc-status\"]!==void 0&&this.#u(e)}#u(e){let{\"grpc-status\":t,\"grpc-message\":r}=e,o=typeof r==\"st" +
  "ring\"&&r!==\"\"?Ee(r):\"the relay ended the stream\";this.#d({message:t===\"0\"?\"the relay ended the stream\":o})}#d(" +
  "e){this.#n===void 0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()=>{},this.#n??={message:\"it w" +
  "as closed by this side\"},this.#e.destroy(),this.#t.destroy()}};function Ee(n){try{return decodeURIComponent(n)" +
  ".slice(0,1024)}catch{return n.slice(0,1024)}}j({post:n=>H.parentPort?.postMessage(n),listen:n=>{H.parentPort?." +
  "on(\"message\",n)}},{connectors:[re],nowMs:Z,after:M,randomBytes:ee,exit:()=>ne.default.exit()});\n";
