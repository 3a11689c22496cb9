/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var ie=Object.create;var q=Object.defineProperty;var se=Object.getOwnPropertyDescriptor;var ae=Object.getOwnPr" +
  "opertyNames;var de=Object.getPrototypeOf,le=Object.prototype.hasOwnProperty;var ce=(n,e,t,r)=>{if(e&&typeof e=" +
  "=\"object\"||typeof e==\"function\")for(let o of ae(e))!le.call(n,o)&&o!==t&&q(n,o,{get:()=>e[o],enumerable:!(r=se" +
  "(e,o))||r.enumerable});return n};var he=(n,e,t)=>(t=n!=null?ie(de(n)):{},ce(e||!n||!n.__esModule?q(t,\"default\"" +
  ",{value:n,enumerable:!0}):t,n));var ne=he(require(\"node:process\")),H=require(\"node:worker_threads\");var i={inv" +
  "alidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrec" +
  "ondition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},a=(n,e,t,r" +
  ")=>({http:n,grpc:e,close:t,errorClass:r,retryable:!1}),h=(...n)=>({...a(...n),retryable:!0}),R={join_timeout:h" +
  "(504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:a(401,i.unauthenticated,258,\"AuthError\"),auth_key_in" +
  "valid:a(401,i.unauthenticated,259,\"AuthError\"),transport_error:h(502,i.unavailable,260,\"TransportError\"),conne" +
  "ction_error:h(502,i.unavailable,261,\"TransportError\"),listener_died:a(500,i.internal,262,\"TransportError\"),cha" +
  "nnel_error:a(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:a(429,i.resourceExhausted,264,\"QuotaExce" +
  "ededError\"),mls_error:a(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:a(400,i.invalidArgument,272,\"" +
  "InvalidArgumentError\"),not_found:a(404,i.notFound,273,\"ChannelError\"),method_not_allowed:a(405,i.unimplemented" +
  ",274,\"InvalidArgumentError\"),payload_too_large:a(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_medi" +
  "a_type:a(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,i.resourceExhausted,277,\"Unavail" +
  "ableError\"),internal:a(500,i.internal,278,\"InternalError\"),overloaded:h(503,i.unavailable,279,\"UnavailableErro" +
  "r\"),email_taken:a(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:a(409,i.resourceExhausted,289,\"AuthEr" +
  "ror\"),account_suspended:a(403,i.permissionDenied,290,\"AuthError\"),conflict:a(409,i.aborted,291,\"AuthError\"),co" +
  "de_invalid:a(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:a(403,i.permissionDenied,293,\"AuthError\"),prot" +
  "ocol_error:a(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:a(400,i.failedPrecondition,305,\"T" +
  "ransportError\"),unknown_operation:a(404,i.unimplemented,306,\"TransportError\"),session_expired:a(401,i.unauthen" +
  "ticated,307,\"AuthError\"),session_replaced:a(409,i.aborted,308,\"TransportError\"),slow_reader:h(429,i.resourceEx" +
  "hausted,309,\"UnavailableError\"),relay_draining:h(503,i.unavailable,310,\"UnavailableError\"),certificate_changed" +
  ":a(502,i.failedPrecondition,311,\"TransportError\"),name_taken:a(409,i.alreadyExists,320,\"ChannelError\"),epoch_c" +
  "onflict:h(409,i.aborted,321,\"MlsError\"),not_allowed:a(403,i.permissionDenied,322,\"ChannelError\"),member_limit_" +
  "reached:a(409,i.resourceExhausted,323,\"ChannelError\"),already_member:a(409,i.alreadyExists,324,\"ChannelError\")" +
  ",identity_present:a(409,i.alreadyExists,356,\"ChannelError\"),queue_full:h(429,i.resourceExhausted,325,\"ChannelE" +
  "rror\"),cursor_invalid:a(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:a(400,i.invalidArgument,327,\"" +
  "MlsError\"),key_package_missing:h(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:a(403,i.permissionDeni" +
  "ed,329,\"ChannelError\"),membership_lapsed:a(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:a(409,i" +
  ".failedPrecondition,331,\"MlsError\"),storage_full:h(507,i.resourceExhausted,332,\"ChannelError\"),link_invalid:a(" +
  "400,i.invalidArgument,333,\"InvalidArgumentError\"),removed:a(410,i.failedPrecondition,355,\"RemovedError\"),membe" +
  "rs_must_update:a(409,i.failedPrecondition,334,\"ChannelError\"),successor_needed:a(409,i.failedPrecondition,335," +
  "\"ChannelError\"),content_invalid:a(400,i.invalidArgument,352,\"ChannelError\"),request_timeout:h(504,i.deadlineEx" +
  "ceeded,353,\"TransportError\"),remote_error:a(502,i.aborted,354,\"RemoteError\"),store_locked:h(409,i.failedPrecon" +
  "dition,336,\"StoreError\"),store_corrupt:a(500,i.internal,337,\"StoreError\"),store_failed:a(500,i.internal,339,\"S" +
  "toreError\"),passphrase_wrong:a(401,i.unauthenticated,338,\"StoreError\")};function N(n){return Object.hasOwn(R,n" +
  ")}var ke=new Map(Object.entries(R).flatMap(([n,{close:e}])=>N(n)?[[e,n]]:[])),p=class extends Error{name=\"Wire" +
  "Error\";code;requestId;constructor(e,t,r={}){super(t,r.cause===void 0?void 0:{cause:r.cause}),this.code=e,this." +
  "requestId=r.requestId}};var f=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:" +
  "1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:40" +
  "96,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,mem" +
  "bersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proo" +
  "fsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,admissions:16,claimsForFounding:10" +
  "0,confirmationsPerPage:10,unconfirmedPerPage:40,featuresPerSession:64,identityBytes:256,tokenBytes:8192,origin" +
  "Bytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponentBytes:63,channelNameBytes:19" +
  "1,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64,conversationBytes:128,conte" +
  "ntHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBytes:64,contentConfirmationBy" +
  "tes:120,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5" +
  ",inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var" +
  " x=3,y=4,C=2,I={control:0,data:1};function E(n){if(!Number.isInteger(n)||n<f.minCellBytes||n>f.maxCellBytes)th" +
  "row new p(\"protocol_error\",`A cell has ${f.minCellBytes} to ${f.maxCellBytes} bytes, not ${n}`);return n}funct" +
  "ion _(n){if(n===0||n>f.envelopeBytes)throw new p(\"payload_too_large\",`Cannot send an envelope of ${n} bytes; 1" +
  " to ${f.envelopeBytes} are allowed`)}var A=class{#t;#e=[];#r=[];#o=[0,0];#n=0;constructor(e){this.#t=E(e)}set " +
  "cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this." +
  "#t=E(e)}get cellBytes(){return this.#t}get pendingBytes(){return this.#n}push(e,t){_(t.length),(e===\"control\"?" +
  "this.#e:this.#r).push(t),this.#n+=t.length+y}next(e){let t=this.#e.length>0?I.control:I.data,r=t===I.control?t" +
  "his.#e:this.#r;if(r.length===0)return;let o=e?.length===this.#t?e:new Uint8Array(this.#t);return this.#i(o,r,t" +
  "),o}#i(e,t,r){let o=x,s=0,l=this.#o[r]??0;for(let u of t){if(l===0){if(e.length-o<=y)break;ue(e,o,u.length),o+" +
  "=y,l=y}let d=l-y,c=u.subarray(d,d+e.length-o);if(e.set(c,o),o+=c.length,l+=c.length,l-y<u.length)break;s++,l=0" +
  "}let m=o-x;s===1?t.shift():t.splice(0,s),this.#o[r]=l,this.#n-=m,e[0]=r,e[1]=m>>8,e[2]=m&255,e.fill(0,o)}};fun" +
  "ction K(n,e,t){let r=e+C;return n.set(t,r),n[e]=t.length>>8,n[e+1]=t.length&255,r+t.length}function ue(n,e,t){" +
  "n[e]=t>>>24,n[e+1]=t>>>16,n[e+2]=t>>>8,n[e+3]=t}var ye=64*1024,$=.5,pe=2,B=class{#t;#e;#r=[];#o=0;#n=0;#i=new " +
  "Uint8Array(0);#s=\"off\";#a=0;#h;#u=0;#d=!0;#l=!1;#p=!1;#c=!1;#f=new Set;#y={cells:0,coverCells:0,coverBytes:0,p" +
  "addingBytes:0};constructor(e){this.#t=e,this.#e=new A(e.cellBytes)}get pendingBytes(){return this.#e.pendingBy" +
  "tes+this.#o+this.#n}get counts(){return{...this.#y}}push(e,t){this.#c||(this.#r.length===0?this.#e.push(e,t):(" +
  "_(t.length),this.#r.push({lane:e,envelope:t}),this.#o+=t.length+y),this.#m())}setCellBytes(e){this.#r.push({ce" +
  "llBytes:E(e)}),this.#C()}configure(e,t){if(!this.#c){if(e!==\"off\"&&!(t>0))throw new RangeError(`Cover needs an" +
  " interval above 0, not ${t}`);this.#h?.(),this.#h=void 0,this.#s=e,this.#a=t,this.#l=!1,this.#u=this.#t.nowMs(" +
  "),e!==\"off\"&&this.#A(),this.#m()}}setCovering(e){this.#d=e}flush(e){return this.#c?Promise.resolve(this.pendin" +
  "gBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Promise(t=>{let r=s=>{this.#f.delete(r),o(" +
  "),t(s)},o=this.#t.after(e,()=>r(!1));this.#f.add(r)})}stop(){this.#c=!0,this.#h?.(),this.#h=void 0,this.#i=new" +
  " Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#c||!this.#x()||(this.#p=!0,this.#B())}#x(){retur" +
  "n this.#l||this.#s!==\"constant\"&&this.#e.pendingBytes>0}async#B(){await void 0;try{for(;!this.#c&&this.#x();){" +
  "let e=this.#s===\"constant\"?this.#_():this.#k();if(await this.#t.write(e,this.#e.cellBytes),this.#n=0,this.#c)b" +
  "reak;this.#C(),this.#t.onWritten?.()}}catch(e){this.#n=0;let t=this.#c;this.stop(),t||this.#t.onFailed?.(e)}th" +
  "is.#p=!1,this.#E()}#E(){if(!(this.#c||this.pendingBytes>0)){this.#i.length>pe*this.#e.cellBytes&&(this.#i=new " +
  "Uint8Array(0));for(let e of this.#f)e(!0)}}#_(){this.#l=!1;let e=this.#g(1);return this.#v(e)?e:this.#b(e)}#k(" +
  "){let{cellBytes:e,pendingBytes:t}=this.#e;if(t===0)return this.#l=!1,this.#b(this.#g(1));let r=Math.ceil(t/(e-" +
  "x))+1,o=this.#g(Math.min(r,Math.max(1,Math.floor(ye/e)))),s=0;for(;s<o.length&&this.#v(o.subarray(s,s+e));)s+=" +
  "e;return o.subarray(0,s)}#g(e){let t=e*this.#e.cellBytes;return this.#i.length<t&&(this.#i=new Uint8Array(t))," +
  "this.#i.subarray(0,t)}#v(e){let t=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let r=t-this.#e.pe" +
  "ndingBytes;return this.#n+=r,this.#y.cells++,this.#y.paddingBytes+=e.length-x-r,this.#w(e,x+r),!0}#b(e){return" +
  " this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,this.#w(e.fill(0),x),e}#w(e,t){let{rider:r}" +
  "=this.#t;if(r!==void 0)for(let o=t;e.length-o>C;){let s=r(e.length-o-C);if(s===void 0)return;o=K(e,o,s)}}#A(){" +
  "let e=this.#t.nowMs();this.#h=this.#t.after(this.#s===\"poisson\"?this.#U():this.#P(e),()=>{this.#l=this.#d||thi" +
  "s.#s===\"constant\"&&this.#e.pendingBytes>0,this.#A(),this.#m()})}#U(){return-Math.log(1-this.#t.random())*this." +
  "#a}#P(e){this.#u=fe(this.#u,this.#a,e);let t=this.#t.random()*$*this.#a;return Math.max((1-$)*this.#a,this.#u-" +
  "t-e)}#C(){for(;this.#e.pendingBytes===0&&this.#r.length>0;){let e=this.#r.findIndex((t,r)=>r>0&&\"cellBytes\"in " +
  "t);for(let t of this.#r.splice(0,e<0?this.#r.length:e))\"cellBytes\"in t?this.#e.cellBytes=t.cellBytes:(this.#o-" +
  "=t.envelope.length+y,this.#e.push(t.lane,t.envelope))}}};function fe(n,e,t){if(t<n-e)return t+e;let r=Math.max" +
  "(0,Math.floor((t-n)/e));return n+(r+1)*e}function O(n,e){if(n.length!==e.length)return!1;let t=0;for(let r=0;r" +
  "<n.length;r++)t|=(n[r]??0)^(e[r]??0);return t===0}function b(n){let e=[];for(let t=n;t!==void 0&&e.length<3;t=" +
  "t instanceof Error?t.cause:void 0){let r=t instanceof Error?t.message:String(t);r!==\"\"&&!e.some(o=>o.includes(" +
  "r))&&e.push(r)}return e.join(\": \")}var k=class{#t=new Map;offer(e,t){this.#t.delete(e),this.#t.set(e,t)}take(e" +
  "){for(let[t,r]of this.#t)if(!(r.length>e))return this.#t.delete(t),r}};var me=2e3;function j(n,e){let t,r,o=0," +
  "s=new k,l=d=>{n.post({kind:\"written\",takenBytes:o-d.pendingBytes,counts:d.counts})},m=async({transport:d,targe" +
  "t:c,isTapped:M})=>{let W=e.connectors.find(g=>g.transport===d);if(W===void 0)throw new Error(`no way to connec" +
  "t by ${d} in a thread of its own`);let D=t=await W.connect(c,new AbortController().signal),oe=r=new B({cellByt" +
  "es:f.cellBytes,write:(g,F)=>(M&&n.post({kind:\"sent\",cells:g.slice(),cellBytes:F}),D.write(g,F)),after:e.after," +
  "nowMs:e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:g=>s.take(g),onWritten" +
  ":()=>l(oe),onFailed:()=>n.post({kind:\"failed\"})});D.closed.then(g=>n.post({kind:\"closed\",end:g})),n.post({kind" +
  ":\"connected\"})},u=async()=>{let d=await t?.read();n.post({kind:\"chunk\",bytes:d?.slice()})};n.listen(d=>{switch" +
  "(d.kind){case\"connect\":return void m(d).catch(c=>n.post({kind:\"refused\",message:b(c)}));case\"push\":return o+=d" +
  ".envelope.length+y,r?.push(d.lane,d.envelope);case\"offer\":return s.offer(d.key,d.envelope);case\"cellBytes\":ret" +
  "urn r?.setCellBytes(d.cellBytes);case\"configure\":return r?.configure(d.mode,d.intervalMs);case\"covering\":retur" +
  "n r?.setCovering(d.covering);case\"flush\":return void r?.flush(d.timeoutMs).then(c=>{n.post({kind:\"flushed\",id:" +
  "d.id,flushed:c})});case\"read\":return void u();case\"stop\":return r?.stop();case\"close\":return t?.close(d.closeC" +
  "ode),void e.after(me,e.exit)}})}var v=require(\"node:http2\");var w=5,ge=64*1024,V=10;function z(n,e){let t=xe(V" +
  ",e),r=w+t.length+e,o=new Uint8Array(n.length/e*r);for(let s=0;s<n.length/e;s++){let l=s*r;be(o,l+1,t.length+e)" +
  ",o.set(t,l+w),o.set(n.subarray(s*e,(s+1)*e),l+w+t.length)}return o}function J(n){let{value:e,end:t}=ve(n,0,V);" +
  "if(t!==n.length)throw new p(\"protocol_error\",\"A cell's message holds more than a cell\");return e}var U=class{#" +
  "t=new Uint8Array(w);#e=0;#r=new Uint8Array(0);#o=0;read(e,t){let r=0;for(;r<e.length;){if(this.#e<w){let s=e.s" +
  "ubarray(r,r+w-this.#e);if(this.#t.set(s,this.#e),this.#e+=s.length,r+=s.length,this.#e<w)return;this.#n()}let " +
  "o=e.subarray(r,r+this.#r.length-this.#o);r+=o.length,o.length===this.#r.length?this.#i(o,t):(this.#r.set(o,thi" +
  "s.#o),this.#o+=o.length,this.#o===this.#r.length&&this.#i(this.#r,t))}}#n(){let e=new DataView(this.#t.buffer)" +
  ".getUint32(1);if(e===0||e>ge)throw new p(\"protocol_error\",`A message of ${e} bytes where cells are expected`);" +
  "this.#r.length!==e&&(this.#r=new Uint8Array(e)),this.#o=0}#i(e,t){this.#e=0,t(this.#t[0]??0,e)}};function G(n)" +
  "{let e=new Uint8Array(n.reduce((r,{length:o})=>r+o,0)),t=0;for(let r of n)e.set(r,t),t+=r.length;return e}func" +
  "tion xe(n,e){let t=[n];for(let r=e;r>0||t.length===1;r>>>=7)t.push(r>127?r&127|128:r);return Uint8Array.from(t" +
  ")}function ve(n,e,t){if(n[e]!==t)throw new p(\"protocol_error\",\"A message without the field that it must have\")" +
  ";let[r,o]=[0,e+1];for(let s=1;s<=2**14;s*=128){let l=n[o++]??0;if(r+=(l&127)*s,l<128){if(r>n.length-o)break;re" +
  "turn{value:n.subarray(o,o+r),end:o+r}}}throw new p(\"protocol_error\",\"A field goes beyond the end of its messag" +
  "e\")}function be(n,e,t){new DataView(n.buffer,n.byteOffset).setUint32(e,t)}var Q=require(\"node:crypto\"),Y=requi" +
  "re(\"node:net\"),P=require(\"node:tls\");function X({host:n,port:e,trust:t},r,o){return new Promise((s,l)=>{o.thro" +
  "wIfAborted();let m=t.certificateHashes.length>0,u=(0,P.connect)({host:n,port:e,...(0,Y.isIP)(n)===0&&{serverna" +
  "me:n},ALPNProtocols:[r],minVersion:\"TLSv1.3\",...t.caCerts.length>0&&{ca:[...P.rootCertificates,...t.caCerts]}," +
  "rejectUnauthorized:!m}),d=M=>{o.removeEventListener(\"abort\",c),u.destroy(),l(M)},c=()=>d(o.reason);o.addEventL" +
  "istener(\"abort\",c),u.on(\"error\",d),u.once(\"secureConnect\",()=>{if(m&&!we(u,t))return d(new Error(\"the relay's " +
  "certificate is none of tls.certificateHashes\"));if(u.alpnProtocol!==r)return d(new Error(`the server does not " +
  "speak ${r}`));o.removeEventListener(\"abort\",c),s(u)})})}function we(n,{certificateHashes:e}){let t=(0,Q.create" +
  "Hash)(\"sha256\").update(n.getPeerCertificate().raw).digest();return e.some(r=>O(r,t))}var S=class{#t=new Map;#e" +
  ";#r=1/0;#o=0;after(e,t){let r=Math.ceil((performance.now()+e)/250),o={run:t},s=this.#t.get(r);return s===void " +
  "0?this.#t.set(r,new Set([o])):s.add(o),this.#o++,r<this.#r?this.#s(r):this.#o===1&&this.#i(!0),()=>{this.#n(r," +
  "o)}}#n(e,t){let r=this.#t.get(e);return r===void 0||!r.delete(t)?!1:(r.size===0&&this.#t.delete(e),this.#o--,t" +
  "his.#o===0&&this.#i(!1),!0)}#i(e){typeof this.#e==\"object\"&&(e?this.#e.ref():this.#e.unref())}#s(e){clearTimeo" +
  "ut(this.#e),this.#r=e;let t=Math.max(0,e*250-performance.now());this.#e=setTimeout(()=>this.#a(),Math.min(t,21" +
  "47483647))}#a(){this.#e=void 0,this.#r=1/0;let e=performance.now(),t=1/0;for(let[r,o]of this.#t)if(r*250>e)t=M" +
  "ath.min(t,r);else for(let s of o)queueMicrotask(()=>this.#n(r,s)&&s.run());t<1/0&&this.#s(t)}};function Z(){re" +
  "turn Date.now()}var Ae=5e3,Ce=new S;function T(n,e){if(n>=Ae)return Ce.after(n,e);let t=setTimeout(e,n);return" +
  "()=>clearTimeout(t)}function ee(n){return crypto.getRandomValues(new Uint8Array(n))}var te=1024*1024,Be=1500,r" +
  "e={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(n,e)=>new L(await X(n,\"h2\",e),n)},L=class{#t;#" +
  "e;#r;#o=new U;#n;#i=()=>{};#s;closed;constructor(e,{host:t,port:r}){this.closed=new Promise(o=>this.#i=o),this" +
  ".#t=(0,v.connect)(`https://${t.includes(\":\")?`[${t}]`:t}:${r}`,{createConnection:()=>e,settings:{initialWindow" +
  "Size:te,enablePush:!1}}),this.#t.once(\"connect\",()=>this.#t.setLocalWindowSize(te)),this.#t.on(\"error\",o=>this" +
  ".#d({message:b(o)})),this.#t.on(\"goaway\",()=>this.#t.close()),this.#e=this.#t.request({[v.constants.HTTP2_HEAD" +
  "ER_METHOD]:\"POST\",[v.constants.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[v.constants.HTTP2_HEADER_C" +
  "ONTENT_TYPE]:\"application/grpc\",[v.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#d({mess" +
  "age:b(o)})),this.#e.on(\"response\",o=>this.#h(o)),this.#e.on(\"trailers\",o=>this.#u(o)),this.#e.on(\"close\",()=>{" +
  "this.#d({message:\"the connection was cut off\"}),this.#l()}),this.#r=this.#e[Symbol.asyncIterator]()}async read" +
  "(){try{for(;;){let{done:e,value:t}=await this.#r.next();if(e)break;let r=[];if(this.#o.read(t,(o,s)=>{if(o!==0" +
  ")throw new Error(\"compressed cells were not asked for\");r.push(J(s).slice())}),r.length>0)return G(r)}}catch(e" +
  "){this.#d({message:b(e)})}this.#a()}write(e,t){return new Promise((r,o)=>{if(this.#n!==void 0)return o(new Err" +
  "or(this.#n.message));this.#e.write(z(e,t),s=>{if(!s)return r();this.#d({message:b(s)}),o(s)})})}close(e){this." +
  "#i({message:\"it was closed by this side\"}),e===0?this.#a():this.#l()}#a(){this.#e.end(),this.#s??=T(Be,()=>thi" +
  "s.#l())}#h(e){let t=e[v.constants.HTTP2_HEADER_STATUS];if(t!==200)return this.#d({message:`The relay returned " +
  "HTTP status ${String(t)} for Session`});e[\"grpc-status\"]!==void 0&&this.#u(e)}#u(e){let{\"grpc-status\":t,\"grpc-" +
  "message\":r}=e,o=typeof r==\"string\"&&r!==\"\"?Ee(r):\"the relay ended the stream\";this.#d({message:t===\"0\"?\"the re" +
  "lay ended the stream\":o})}#d(e){this.#n===void 0&&(this.#n=e,this.#i(e),this.#a())}#l(){this.#s?.(),this.#s=()" +
  "=>{},this.#n??={message:\"it was closed by this side\"},this.#e.destroy(),this.#t.destroy()}};function Ee(n){try" +
  "{return decodeURIComponent(n).slice(0,1024)}catch{return n.slice(0,1024)}}j({post:n=>H.parentPort?.postMessage" +
  "(n),listen:n=>{H.parentPort?.on(\"message\",n)}},{connectors:[re],nowMs:Z,after:T,randomBytes:ee,exit:()=>ne.def" +
  "ault.exit()});\n";
