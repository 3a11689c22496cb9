/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var X=Object.create;var I=Object.defineProperty;var Z=Object.getOwnPropertyDescriptor;var ee=Object.getOwnProp" +
  "ertyNames;var te=Object.getPrototypeOf,re=Object.prototype.hasOwnProperty;var ne=(r,e,t,n)=>{if(e&&typeof e==\"" +
  "object\"||typeof e==\"function\")for(let o of ee(e))!re.call(r,o)&&o!==t&&I(r,o,{get:()=>e[o],enumerable:!(n=Z(e," +
  "o))||n.enumerable});return r};var oe=(r,e,t)=>(t=r!=null?X(te(r)):{},ne(e||!r||!r.__esModule?I(t,\"default\",{va" +
  "lue:r,enumerable:!0}):t,r));var J=oe(require(\"node:process\")),R=require(\"node:worker_threads\");var s={invalidA" +
  "rgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondit" +
  "ion:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},i=(r,e,t,n)=>({" +
  "http:r,grpc:e,close:t,errorClass:n}),T={join_timeout:i(504,s.deadlineExceeded,257,\"TransportError\"),auth_faile" +
  "d:i(401,s.unauthenticated,258,\"AuthError\"),auth_key_invalid:i(401,s.unauthenticated,259,\"AuthError\"),transport" +
  "_error:i(502,s.unavailable,260,\"TransportError\"),connection_error:i(502,s.unavailable,261,\"TransportError\"),li" +
  "stener_died:i(500,s.internal,262,\"TransportError\"),channel_error:i(400,s.invalidArgument,263,\"ChannelError\"),q" +
  "uota_exceeded:i(429,s.resourceExhausted,264,\"QuotaExceededError\"),mls_error:i(409,s.failedPrecondition,265,\"Ml" +
  "sError\"),invalid_request:i(400,s.invalidArgument,272,\"TransportError\"),not_found:i(404,s.notFound,273,\"Channel" +
  "Error\"),method_not_allowed:i(405,s.unimplemented,274,\"TransportError\"),payload_too_large:i(413,s.outOfRange,27" +
  "5,\"ChannelError\"),unsupported_media_type:i(415,s.invalidArgument,276,\"TransportError\"),rate_limited:i(429,s.re" +
  "sourceExhausted,277,\"TransportError\"),internal:i(500,s.internal,278,\"TransportError\"),overloaded:i(503,s.unava" +
  "ilable,279,\"TransportError\"),email_taken:i(409,s.alreadyExists,288,\"AuthError\"),key_limit_reached:i(409,s.reso" +
  "urceExhausted,289,\"AuthError\"),account_suspended:i(403,s.permissionDenied,290,\"AuthError\"),conflict:i(409,s.ab" +
  "orted,291,\"AuthError\"),code_invalid:i(400,s.invalidArgument,292,\"AuthError\"),csrf_failed:i(403,s.permissionDen" +
  "ied,293,\"AuthError\"),protocol_error:i(400,s.invalidArgument,304,\"TransportError\"),unsupported_version:i(400,s." +
  "failedPrecondition,305,\"TransportError\"),unknown_operation:i(404,s.unimplemented,306,\"TransportError\"),session" +
  "_expired:i(401,s.unauthenticated,307,\"AuthError\"),session_replaced:i(409,s.aborted,308,\"TransportError\"),slow_" +
  "reader:i(429,s.resourceExhausted,309,\"TransportError\"),relay_draining:i(503,s.unavailable,310,\"TransportError\"" +
  "),name_taken:i(409,s.alreadyExists,320,\"ChannelError\"),epoch_conflict:i(409,s.aborted,321,\"MlsError\"),not_allo" +
  "wed:i(403,s.permissionDenied,322,\"ChannelError\"),member_limit_reached:i(409,s.resourceExhausted,323,\"ChannelEr" +
  "ror\"),already_member:i(409,s.alreadyExists,324,\"ChannelError\"),queue_full:i(429,s.resourceExhausted,325,\"Chann" +
  "elError\"),cursor_invalid:i(416,s.outOfRange,326,\"ChannelError\"),key_package_invalid:i(400,s.invalidArgument,32" +
  "7,\"MlsError\"),key_package_missing:i(404,s.failedPrecondition,328,\"MlsError\"),join_rejected:i(403,s.permissionD" +
  "enied,329,\"ChannelError\"),membership_lapsed:i(410,s.failedPrecondition,330,\"ChannelError\"),state_conflict:i(40" +
  "9,s.failedPrecondition,331,\"MlsError\"),store_locked:i(409,s.failedPrecondition,336,\"ChannelError\"),store_corru" +
  "pt:i(500,s.internal,337,\"MlsError\"),passphrase_wrong:i(401,s.unauthenticated,338,\"AuthError\")};function K(r){r" +
  "eturn Object.hasOwn(T,r)}var ve=new Map(Object.entries(T).flatMap(([r,{close:e}])=>K(r)?[[e,r]]:[])),u=class e" +
  "xtends Error{name=\"WireError\";code;requestId;constructor(e,t,n={}){super(t,n.cause===void 0?void 0:{cause:n.ca" +
  "use}),this.code=e,this.requestId=n.requestId}};var p=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBy" +
  "tes:16384,payloadBytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2" +
  "097152,leafNodeBytes:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDept" +
  "h:6,cborItems:32768,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,an" +
  "swersPerCommit:1e3,proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,featuresPerSession:64,identityByte" +
  "s:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,errorCodeBytes:64,nameComponent" +
  "Bytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeBytes:127,contentAddressees:64" +
  ",conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderValueBytes:1024,contentErrorBy" +
  "tes:64,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5," +
  "inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});var " +
  "x=3,h=4,P={control:0,data:1};function B(r){if(!Number.isInteger(r)||r<p.minCellBytes||r>p.maxCellBytes)throw n" +
  "ew u(\"protocol_error\",`A cell has ${p.minCellBytes} to ${p.maxCellBytes} bytes, not ${r}`);return r}function E" +
  "(r){if(r===0||r>p.envelopeBytes)throw new u(\"payload_too_large\",`Cannot send an envelope of ${r} bytes; 1 to $" +
  "{p.envelopeBytes} are allowed`)}var C=class{#t;#e=[];#r=[];#s=[0,0];#n=0;constructor(e){this.#t=B(e)}set cellB" +
  "ytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#t=B(" +
  "e)}get cellBytes(){return this.#t}get pendingBytes(){return this.#n}push(e,t){E(t.length),(e===\"control\"?this." +
  "#e:this.#r).push(t),this.#n+=t.length+h}next(e){let t=this.#e.length>0?P.control:P.data,n=t===P.control?this.#" +
  "e:this.#r;if(n.length===0)return;let o=e?.length===this.#t?e:new Uint8Array(this.#t);return this.#o(o,n,t),o}#" +
  "o(e,t,n){let o=x,a=0,d=this.#s[n]??0;for(let l of t){if(d===0){if(e.length-o<=h)break;se(e,o,l.length),o+=h,d=" +
  "h}let c=d-h,y=l.subarray(c,c+e.length-o);if(e.set(y,o),o+=y.length,d+=y.length,d-h<l.length)break;a++,d=0}let " +
  "f=o-x;a===1?t.shift():t.splice(0,a),this.#s[n]=d,this.#n-=f,e[0]=n,e[1]=f>>8,e[2]=f&255,e.fill(0,o)}};function" +
  " se(r,e,t){r[e]=t>>>24,r[e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}var ie=64*1024,L=.5,ae=2,b=class{#t;#e;#r=[];#s=0;#" +
  "n=0;#o=new Uint8Array(0);#a=\"off\";#l=0;#h;#u=0;#i=!0;#d=!1;#p=!1;#c=!1;#f=new Set;#y={cells:0,coverCells:0,cov" +
  "erBytes:0,paddingBytes:0};constructor(e){this.#t=e,this.#e=new C(e.cellBytes)}get pendingBytes(){return this.#" +
  "e.pendingBytes+this.#s+this.#n}get counts(){return{...this.#y}}push(e,t){this.#c||(this.#r.length===0?this.#e." +
  "push(e,t):(E(t.length),this.#r.push({lane:e,envelope:t}),this.#s+=t.length+h),this.#m())}setCellBytes(e){this." +
  "#r.push({cellBytes:B(e)}),this.#b()}configure(e,t){if(!this.#c){if(e!==\"off\"&&!(t>0))throw new RangeError(`Cov" +
  "er needs an interval above 0, not ${t}`);this.#h?.(),this.#h=void 0,this.#a=e,this.#l=t,this.#d=!1,this.#u=thi" +
  "s.#t.nowMs(),e!==\"off\"&&this.#C(),this.#m()}}setCovering(e){this.#i=e}flush(e){return this.#c?Promise.resolve(" +
  "this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Promise(t=>{let n=a=>{this.#f.d" +
  "elete(n),o(),t(a)},o=this.#t.after(e,()=>n(!1));this.#f.add(n)})}stop(){this.#c=!0,this.#h?.(),this.#h=void 0," +
  "this.#o=new Uint8Array(0);for(let e of this.#f)e(!1)}#m(){this.#p||this.#c||!this.#v()||(this.#p=!0,this.#A())" +
  "}#v(){return this.#d||this.#a!==\"constant\"&&this.#e.pendingBytes>0}async#A(){await void 0;try{for(;!this.#c&&t" +
  "his.#v();){let e=this.#a===\"constant\"?this.#E():this.#_();if(await this.#t.write(e,this.#e.cellBytes),this.#n=" +
  "0,this.#c)break;this.#b(),this.#t.onWritten?.()}}catch(e){this.#n=0;let t=this.#c;this.stop(),t||this.#t.onFai" +
  "led?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#c||this.pendingBytes>0)){this.#o.length>ae*this.#e.cellBytes&&(t" +
  "his.#o=new Uint8Array(0));for(let e of this.#f)e(!0)}}#E(){this.#d=!1;let e=this.#g(1);return this.#x(e)?e:thi" +
  "s.#w(e)}#_(){let{cellBytes:e,pendingBytes:t}=this.#e;if(t===0)return this.#d=!1,this.#w(this.#g(1));let n=Math" +
  ".ceil(t/(e-x))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(ie/e)))),a=0;for(;a<o.length&&this.#x(o.subarray(a" +
  ",a+e));)a+=e;return o.subarray(0,a)}#g(e){let t=e*this.#e.cellBytes;return this.#o.length<t&&(this.#o=new Uint" +
  "8Array(t)),this.#o.subarray(0,t)}#x(e){let t=this.#e.pendingBytes;if(this.#e.next(e)===void 0)return!1;let n=t" +
  "-this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.paddingBytes+=e.length-x-n,!0}#w(e){return thi" +
  "s.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,e.fill(0)}#C(){let e=this.#t.nowMs();this.#h=th" +
  "is.#t.after(this.#a===\"poisson\"?this.#k():this.#U(e),()=>{this.#d=this.#i||this.#a===\"constant\"&&this.#e.pendi" +
  "ngBytes>0,this.#C(),this.#m()})}#k(){return-Math.log(1-this.#t.random())*this.#l}#U(e){this.#u=le(this.#u,this" +
  ".#l,e);let t=this.#t.random()*L*this.#l;return Math.max((1-L)*this.#l,this.#u-t-e)}#b(){for(;this.#e.pendingBy" +
  "tes===0&&this.#r.length>0;){let e=this.#r.findIndex((t,n)=>n>0&&\"cellBytes\"in t);for(let t of this.#r.splice(0" +
  ",e<0?this.#r.length:e))\"cellBytes\"in t?this.#e.cellBytes=t.cellBytes:(this.#s-=t.envelope.length+h,this.#e.pus" +
  "h(t.lane,t.envelope))}}};function le(r,e,t){if(t<r-e)return t+e;let n=Math.max(0,Math.floor((t-r)/e));return r" +
  "+(n+1)*e}function S(r,e){if(r.length!==e.length)return!1;let t=0;for(let n=0;n<r.length;n++)t|=(r[n]??0)^(e[n]" +
  "??0);return t===0}function g(r){let e=[];for(let t=r;t!==void 0&&e.length<3;t=t instanceof Error?t.cause:void " +
  "0){let n=t instanceof Error?t.message:String(t);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}return e.join(\": " +
  "\")}var de=2e3;function O(r,e){let t,n,o=0,a=l=>{r.post({kind:\"written\",takenBytes:o-l.pendingBytes,counts:l.co" +
  "unts})},d=async({transport:l,target:c})=>{let y=e.connectors.find(w=>w.transport===l);if(y===void 0)throw new " +
  "Error(`no way to connect by ${l} in a thread of its own`);let A=t=await y.connect(c,new AbortController().sign" +
  "al),Q=n=new b({cellBytes:p.cellBytes,write:(w,Y)=>A.write(w,Y),after:e.after,nowMs:e.nowMs,random:()=>new Data" +
  "View(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>a(Q),onFailed:()=>r.post({kind:\"failed\"})});A.c" +
  "losed.then(w=>r.post({kind:\"closed\",end:w})),r.post({kind:\"connected\"})},f=async()=>{let l=await t?.read();r.p" +
  "ost({kind:\"chunk\",bytes:l?.slice()})};r.listen(l=>{switch(l.kind){case\"connect\":return void d(l).catch(c=>r.po" +
  "st({kind:\"refused\",message:g(c)}));case\"push\":return o+=l.envelope.length+h,n?.push(l.lane,l.envelope);case\"ce" +
  "llBytes\":return n?.setCellBytes(l.cellBytes);case\"configure\":return n?.configure(l.mode,l.intervalMs);case\"cov" +
  "ering\":return n?.setCovering(l.covering);case\"flush\":return void n?.flush(l.timeoutMs).then(c=>{r.post({kind:\"" +
  "flushed\",id:l.id,flushed:c})});case\"read\":return void f();case\"stop\":return n?.stop();case\"close\":return t?.cl" +
  "ose(l.closeCode),void e.after(de,e.exit)}})}var m=require(\"node:http2\");var v=5,ce=64*1024,H=10;function D(r,e" +
  "){let t=he(H,e),n=v+t.length+e,o=new Uint8Array(r.length/e*n);for(let a=0;a<r.length/e;a++){let d=a*n;ye(o,d+1" +
  ",t.length+e),o.set(t,d+v),o.set(r.subarray(a*e,(a+1)*e),d+v+t.length)}return o}function W(r){let{value:e,end:t" +
  "}=ue(r,0,H);if(t!==r.length)throw new u(\"protocol_error\",\"A cell's message holds more than a cell\");return e}v" +
  "ar _=class{#t=new Uint8Array(v);#e=0;#r=new Uint8Array(0);#s=0;read(e,t){let n=0;for(;n<e.length;){if(this.#e<" +
  "v){let a=e.subarray(n,n+v-this.#e);if(this.#t.set(a,this.#e),this.#e+=a.length,n+=a.length,this.#e<v)return;th" +
  "is.#n()}let o=e.subarray(n,n+this.#r.length-this.#s);n+=o.length,o.length===this.#r.length?this.#o(o,t):(this." +
  "#r.set(o,this.#s),this.#s+=o.length,this.#s===this.#r.length&&this.#o(this.#r,t))}}#n(){let e=new DataView(thi" +
  "s.#t.buffer).getUint32(1);if(e===0||e>ce)throw new u(\"protocol_error\",`A message of ${e} bytes where cells are" +
  " expected`);this.#r.length!==e&&(this.#r=new Uint8Array(e)),this.#s=0}#o(e,t){this.#e=0,t(this.#t[0]??0,e)}};f" +
  "unction q(r){let e=new Uint8Array(r.reduce((n,{length:o})=>n+o,0)),t=0;for(let n of r)e.set(n,t),t+=n.length;r" +
  "eturn e}function he(r,e){let t=[r];for(let n=e;n>0||t.length===1;n>>>=7)t.push(n>127?n&127|128:n);return Uint8" +
  "Array.from(t)}function ue(r,e,t){if(r[e]!==t)throw new u(\"protocol_error\",\"A message without the field that it" +
  " must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let d=r[o++]??0;if(n+=(d&127)*a,d<128){if(n>r.lengt" +
  "h-o)break;return{value:r.subarray(o,o+n),end:o+n}}}throw new u(\"protocol_error\",\"A field goes beyond the end o" +
  "f its message\")}function ye(r,e,t){new DataView(r.buffer,r.byteOffset).setUint32(e,t)}var F=require(\"node:cryp" +
  "to\"),N=require(\"node:net\"),k=require(\"node:tls\");function $({host:r,port:e,trust:t},n,o){return new Promise((a" +
  ",d)=>{o.throwIfAborted();let f=t.certificateHashes.length>0,l=(0,k.connect)({host:r,port:e,...(0,N.isIP)(r)===" +
  "0&&{servername:r},ALPNProtocols:[n],minVersion:\"TLSv1.3\",...t.caCerts.length>0&&{ca:[...k.rootCertificates,..." +
  "t.caCerts]},rejectUnauthorized:!f}),c=A=>{o.removeEventListener(\"abort\",y),l.destroy(),d(A)},y=()=>c(o.reason)" +
  ";o.addEventListener(\"abort\",y),l.once(\"error\",c),l.once(\"secureConnect\",()=>{if(f&&!pe(l,t))return c(new Error" +
  "(\"the relay's certificate is none of tls.certificateHashes\"));if(l.alpnProtocol!==n)return c(new Error(`the se" +
  "rver does not speak ${n}`));o.removeEventListener(\"abort\",y),l.removeListener(\"error\",c),a(l)})})}function pe(" +
  "r,{certificateHashes:e}){let t=(0,F.createHash)(\"sha256\").update(r.getPeerCertificate().raw).digest();return e" +
  ".some(n=>S(n,t))}function j(){return Date.now()}function U(r,e){let t=setTimeout(e,r);return()=>clearTimeout(t" +
  ")}function V(r){return crypto.getRandomValues(new Uint8Array(r))}var z=1024*1024,fe=1500,G={transport:\"grpc\",c" +
  "arrier:\"tcp\",unusable:()=>{},connect:async(r,e)=>new M(await $(r,\"h2\",e),r)},M=class{#t;#e;#r;#s=new _;#n;#o=(" +
  ")=>{};#a;closed;constructor(e,{host:t,port:n}){this.closed=new Promise(o=>this.#o=o),this.#t=(0,m.connect)(`ht" +
  "tps://${t.includes(\":\")?`[${t}]`:t}:${n}`,{createConnection:()=>e,settings:{initialWindowSize:z,enablePush:!1}" +
  "}),this.#t.once(\"connect\",()=>this.#t.setLocalWindowSize(z)),this.#t.on(\"error\",o=>this.#i({message:g(o)})),th" +
  "is.#t.on(\"goaway\",()=>this.#t.close()),this.#e=this.#t.request({[m.constants.HTTP2_HEADER_METHOD]:\"POST\",[m.co" +
  "nstants.HTTP2_HEADER_PATH]:\"/static.relay.v1.Relay/Session\",[m.constants.HTTP2_HEADER_CONTENT_TYPE]:\"applicati" +
  "on/grpc\",[m.constants.HTTP2_HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#i({message:g(o)})),this.#e.on(" +
  "\"response\",o=>this.#h(o)),this.#e.on(\"trailers\",o=>this.#u(o)),this.#e.on(\"close\",()=>{this.#i({message:\"the c" +
  "onnection was cut off\"}),this.#d()}),this.#r=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done" +
  ":e,value:t}=await this.#r.next();if(e)break;let n=[];if(this.#s.read(t,(o,a)=>{if(o!==0)throw new Error(\"compr" +
  "essed cells were not asked for\");n.push(W(a).slice())}),n.length>0)return q(n)}}catch(e){this.#i({message:g(e)" +
  "})}this.#l()}write(e,t){return new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));th" +
  "is.#e.write(D(e,t),a=>{if(!a)return n();this.#i({message:g(a)}),o(a)})})}close(e){this.#o({message:\"it was clo" +
  "sed by this side\"}),e===0?this.#l():this.#d()}#l(){this.#e.end(),this.#a??=U(fe,()=>this.#d())}#h(e){let t=e[m" +
  ".constants.HTTP2_HEADER_STATUS];if(t!==200)return this.#i({message:`Session was answered ${String(t)}`});e[\"gr" +
  "pc-status\"]!==void 0&&this.#u(e)}#u(e){let{\"grpc-status\":t,\"grpc-message\":n}=e,o=typeof n==\"string\"&&n!==\"\"?me" +
  "(n):\"the relay ended the stream\";this.#i({message:t===\"0\"?\"the relay ended the stream\":o})}#i(e){this.#n===voi" +
  "d 0&&(this.#n=e,this.#o(e),this.#l())}#d(){this.#a?.(),this.#a=()=>{},this.#n??={message:\"it was closed by thi" +
  "s side\"},this.#e.destroy(),this.#t.destroy()}};function me(r){try{return decodeURIComponent(r).slice(0,1024)}c" +
  "atch{return r.slice(0,1024)}}O({post:r=>R.parentPort?.postMessage(r),listen:r=>{R.parentPort?.on(\"message\",r)}" +
  "},{connectors:[G],nowMs:j,after:U,randomBytes:V,exit:()=>J.default.exit()});\n";
