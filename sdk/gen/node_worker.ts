/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var ee=Object.create;var O=Object.defineProperty;var te=Object.getOwnPropertyDescriptor;var re=Object.getOwnPr" +
  "opertyNames;var ne=Object.getPrototypeOf,oe=Object.prototype.hasOwnProperty;var ie=(r,e,t,n)=>{if(e&&typeof e=" +
  "=\"object\"||typeof e==\"function\")for(let o of re(e))!oe.call(r,o)&&o!==t&&O(r,o,{get:()=>e[o],enumerable:!(n=te" +
  "(e,o))||n.enumerable});return r};var se=(r,e,t)=>(t=r!=null?ee(ne(r)):{},ie(e||!r||!r.__esModule?O(t,\"default\"" +
  ",{value:r,enumerable:!0}):t,r));var Y=se(require(\"node:process\")),K=require(\"node:worker_threads\");var i={inva" +
  "lidArgument:3,deadlineExceeded:4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPreco" +
  "ndition:9,aborted:10,outOfRange:11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},s=(r,e,t,n)" +
  "=>({http:r,grpc:e,close:t,errorClass:n,retryable:!1}),h=(...r)=>({...s(...r),retryable:!0}),P={join_timeout:h(" +
  "504,i.deadlineExceeded,257,\"TransportError\"),auth_failed:s(401,i.unauthenticated,258,\"AuthError\"),auth_key_inv" +
  "alid:s(401,i.unauthenticated,259,\"AuthError\"),transport_error:h(502,i.unavailable,260,\"TransportError\"),connec" +
  "tion_error:h(502,i.unavailable,261,\"TransportError\"),listener_died:s(500,i.internal,262,\"TransportError\"),chan" +
  "nel_error:s(400,i.invalidArgument,263,\"ChannelError\"),quota_exceeded:s(429,i.resourceExhausted,264,\"QuotaExcee" +
  "dedError\"),mls_error:s(409,i.failedPrecondition,265,\"MlsError\"),invalid_request:s(400,i.invalidArgument,272,\"I" +
  "nvalidArgumentError\"),not_found:s(404,i.notFound,273,\"ChannelError\"),method_not_allowed:s(405,i.unimplemented," +
  "274,\"InvalidArgumentError\"),payload_too_large:s(413,i.outOfRange,275,\"InvalidArgumentError\"),unsupported_media" +
  "_type:s(415,i.invalidArgument,276,\"InvalidArgumentError\"),rate_limited:h(429,i.resourceExhausted,277,\"Unavaila" +
  "bleError\"),internal:s(500,i.internal,278,\"InternalError\"),overloaded:h(503,i.unavailable,279,\"UnavailableError" +
  "\"),email_taken:s(409,i.alreadyExists,288,\"AuthError\"),key_limit_reached:s(409,i.resourceExhausted,289,\"AuthErr" +
  "or\"),account_suspended:s(403,i.permissionDenied,290,\"AuthError\"),conflict:s(409,i.aborted,291,\"AuthError\"),cod" +
  "e_invalid:s(400,i.invalidArgument,292,\"AuthError\"),csrf_failed:s(403,i.permissionDenied,293,\"AuthError\"),proto" +
  "col_error:s(400,i.invalidArgument,304,\"TransportError\"),unsupported_version:s(400,i.failedPrecondition,305,\"Tr" +
  "ansportError\"),unknown_operation:s(404,i.unimplemented,306,\"TransportError\"),session_expired:s(401,i.unauthent" +
  "icated,307,\"AuthError\"),session_replaced:s(409,i.aborted,308,\"TransportError\"),slow_reader:h(429,i.resourceExh" +
  "austed,309,\"UnavailableError\"),relay_draining:h(503,i.unavailable,310,\"UnavailableError\"),name_taken:s(409,i.a" +
  "lreadyExists,320,\"ChannelError\"),epoch_conflict:h(409,i.aborted,321,\"MlsError\"),not_allowed:s(403,i.permission" +
  "Denied,322,\"ChannelError\"),member_limit_reached:s(409,i.resourceExhausted,323,\"ChannelError\"),already_member:s" +
  "(409,i.alreadyExists,324,\"ChannelError\"),queue_full:h(429,i.resourceExhausted,325,\"ChannelError\"),cursor_inval" +
  "id:s(416,i.outOfRange,326,\"ChannelError\"),key_package_invalid:s(400,i.invalidArgument,327,\"MlsError\"),key_pack" +
  "age_missing:h(404,i.failedPrecondition,328,\"MlsError\"),join_rejected:s(403,i.permissionDenied,329,\"ChannelErro" +
  "r\"),membership_lapsed:s(410,i.failedPrecondition,330,\"ChannelError\"),state_conflict:s(409,i.failedPrecondition" +
  ",331,\"MlsError\"),storage_full:h(507,i.resourceExhausted,332,\"ChannelError\"),removed:s(410,i.failedPrecondition" +
  ",355,\"RemovedError\"),content_invalid:s(400,i.invalidArgument,352,\"ChannelError\"),request_timeout:h(504,i.deadl" +
  "ineExceeded,353,\"TransportError\"),remote_error:s(502,i.aborted,354,\"RemoteError\"),store_locked:h(409,i.failedP" +
  "recondition,336,\"StoreError\"),store_corrupt:s(500,i.internal,337,\"StoreError\"),store_failed:s(500,i.internal,3" +
  "39,\"StoreError\"),passphrase_wrong:s(401,i.unauthenticated,338,\"StoreError\")};function H(r){return Object.hasOw" +
  "n(P,r)}var be=new Map(Object.entries(P).flatMap(([r,{close:e}])=>H(r)?[[e,r]]:[])),y=class extends Error{name=" +
  "\"WireError\";code;requestId;constructor(e,t,n={}){super(t,n.cause===void 0?void 0:{cause:n.cause}),this.code=e," +
  "this.requestId=n.requestId}};var m=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadB" +
  "ytes:1048576,ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeByt" +
  "es:4096,creatorWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:3276" +
  "8,membersPerChannel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3" +
  ",proofsPerCommit:128,ownersPerChannel:64,ownersChanges:64,ownersChangeBytes:2048,claimsForFounding:100,feature" +
  "sPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,erro" +
  "rCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeByt" +
  "es:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderVal" +
  "ueBytes:1024,contentErrorBytes:64,queueBytesPerChannel:67108864,queueAgeMs:6048e5,windowBytes:16777216,challen" +
  "geMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,keyPackageLifetimeMs:864e7,minCoverIntervalMs:10,max" +
  "CoverIntervalMs:36e5});var b=3,u=4,T={control:0,data:1};function E(r){if(!Number.isInteger(r)||r<m.minCellByte" +
  "s||r>m.maxCellBytes)throw new y(\"protocol_error\",`A cell has ${m.minCellBytes} to ${m.maxCellBytes} bytes, not" +
  " ${r}`);return r}function _(r){if(r===0||r>m.envelopeBytes)throw new y(\"payload_too_large\",`Cannot send an env" +
  "elope of ${r} bytes; 1 to ${m.envelopeBytes} are allowed`)}var C=class{#t;#e=[];#r=[];#i=[0,0];#n=0;constructo" +
  "r(e){this.#t=E(e)}set cellBytes(e){if(this.#n>0)throw new TypeError(\"Cannot change the cell size while envelop" +
  "es are waiting\");this.#t=E(e)}get cellBytes(){return this.#t}get pendingBytes(){return this.#n}push(e,t){_(t.l" +
  "ength),(e===\"control\"?this.#e:this.#r).push(t),this.#n+=t.length+u}next(e){let t=this.#e.length>0?T.control:T." +
  "data,n=t===T.control?this.#e:this.#r;if(n.length===0)return;let o=e?.length===this.#t?e:new Uint8Array(this.#t" +
  ");return this.#o(o,n,t),o}#o(e,t,n){let o=b,a=0,d=this.#i[n]??0;for(let l of t){if(d===0){if(e.length-o<=u)bre" +
  "ak;ae(e,o,l.length),o+=u,d=u}let c=d-u,p=l.subarray(c,c+e.length-o);if(e.set(p,o),o+=p.length,d+=p.length,d-u<" +
  "l.length)break;a++,d=0}let f=o-b;a===1?t.shift():t.splice(0,a),this.#i[n]=d,this.#n-=f,e[0]=n,e[1]=f>>8,e[2]=f" +
  "&255,e.fill(0,o)}};function ae(r,e,t){r[e]=t>>>24,r[e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}var le=64*1024,L=.5,de=2" +
  ",A=class{#t;#e;#r=[];#i=0;#n=0;#o=new Uint8Array(0);#a=\"off\";#l=0;#h;#u=0;#s=!0;#d=!1;#p=!1;#c=!1;#m=new Set;#" +
  "y={cells:0,coverCells:0,coverBytes:0,paddingBytes:0};constructor(e){this.#t=e,this.#e=new C(e.cellBytes)}get p" +
  "endingBytes(){return this.#e.pendingBytes+this.#i+this.#n}get counts(){return{...this.#y}}push(e,t){this.#c||(" +
  "this.#r.length===0?this.#e.push(e,t):(_(t.length),this.#r.push({lane:e,envelope:t}),this.#i+=t.length+u),this." +
  "#f())}setCellBytes(e){this.#r.push({cellBytes:E(e)}),this.#C()}configure(e,t){if(!this.#c){if(e!==\"off\"&&!(t>0" +
  "))throw new RangeError(`Cover needs an interval above 0, not ${t}`);this.#h?.(),this.#h=void 0,this.#a=e,this." +
  "#l=t,this.#d=!1,this.#u=this.#t.nowMs(),e!==\"off\"&&this.#w(),this.#f()}}setCovering(e){this.#s=e}flush(e){retu" +
  "rn this.#c?Promise.resolve(this.pendingBytes===0):!this.#p&&this.pendingBytes===0?Promise.resolve(!0):new Prom" +
  "ise(t=>{let n=a=>{this.#m.delete(n),o(),t(a)},o=this.#t.after(e,()=>n(!1));this.#m.add(n)})}stop(){this.#c=!0," +
  "this.#h?.(),this.#h=void 0,this.#o=new Uint8Array(0);for(let e of this.#m)e(!1)}#f(){this.#p||this.#c||!this.#" +
  "v()||(this.#p=!0,this.#A())}#v(){return this.#d||this.#a!==\"constant\"&&this.#e.pendingBytes>0}async#A(){await " +
  "void 0;try{for(;!this.#c&&this.#v();){let e=this.#a===\"constant\"?this.#E():this.#_();if(await this.#t.write(e," +
  "this.#e.cellBytes),this.#n=0,this.#c)break;this.#C(),this.#t.onWritten?.()}}catch(e){this.#n=0;let t=this.#c;t" +
  "his.stop(),t||this.#t.onFailed?.(e)}this.#p=!1,this.#B()}#B(){if(!(this.#c||this.pendingBytes>0)){this.#o.leng" +
  "th>de*this.#e.cellBytes&&(this.#o=new Uint8Array(0));for(let e of this.#m)e(!0)}}#E(){this.#d=!1;let e=this.#g" +
  "(1);return this.#x(e)?e:this.#b(e)}#_(){let{cellBytes:e,pendingBytes:t}=this.#e;if(t===0)return this.#d=!1,thi" +
  "s.#b(this.#g(1));let n=Math.ceil(t/(e-b))+1,o=this.#g(Math.min(n,Math.max(1,Math.floor(le/e)))),a=0;for(;a<o.l" +
  "ength&&this.#x(o.subarray(a,a+e));)a+=e;return o.subarray(0,a)}#g(e){let t=e*this.#e.cellBytes;return this.#o." +
  "length<t&&(this.#o=new Uint8Array(t)),this.#o.subarray(0,t)}#x(e){let t=this.#e.pendingBytes;if(this.#e.next(e" +
  ")===void 0)return!1;let n=t-this.#e.pendingBytes;return this.#n+=n,this.#y.cells++,this.#y.paddingBytes+=e.len" +
  "gth-b-n,!0}#b(e){return this.#y.cells++,this.#y.coverCells++,this.#y.coverBytes+=e.length,e.fill(0)}#w(){let e" +
  "=this.#t.nowMs();this.#h=this.#t.after(this.#a===\"poisson\"?this.#U():this.#k(e),()=>{this.#d=this.#s||this.#a=" +
  "==\"constant\"&&this.#e.pendingBytes>0,this.#w(),this.#f()})}#U(){return-Math.log(1-this.#t.random())*this.#l}#k" +
  "(e){this.#u=ce(this.#u,this.#l,e);let t=this.#t.random()*L*this.#l;return Math.max((1-L)*this.#l,this.#u-t-e)}" +
  "#C(){for(;this.#e.pendingBytes===0&&this.#r.length>0;){let e=this.#r.findIndex((t,n)=>n>0&&\"cellBytes\"in t);fo" +
  "r(let t of this.#r.splice(0,e<0?this.#r.length:e))\"cellBytes\"in t?this.#e.cellBytes=t.cellBytes:(this.#i-=t.en" +
  "velope.length+u,this.#e.push(t.lane,t.envelope))}}};function ce(r,e,t){if(t<r-e)return t+e;let n=Math.max(0,Ma" +
  "th.floor((t-r)/e));return r+(n+1)*e}function M(r,e){if(r.length!==e.length)return!1;let t=0;for(let n=0;n<r.le" +
  "ngth;n++)t|=(r[n]??0)^(e[n]??0);return t===0}function v(r){let e=[];for(let t=r;t!==void 0&&e.length<3;t=t ins" +
  "tanceof Error?t.cause:void 0){let n=t instanceof Error?t.message:String(t);n!==\"\"&&!e.some(o=>o.includes(n))&&" +
  "e.push(n)}return e.join(\": \")}var he=2e3;function D(r,e){let t,n,o=0,a=l=>{r.post({kind:\"written\",takenBytes:o" +
  "-l.pendingBytes,counts:l.counts})},d=async({transport:l,target:c})=>{let p=e.connectors.find(w=>w.transport===" +
  "l);if(p===void 0)throw new Error(`no way to connect by ${l} in a thread of its own`);let B=t=await p.connect(c" +
  ",new AbortController().signal),X=n=new A({cellBytes:m.cellBytes,write:(w,Z)=>B.write(w,Z),after:e.after,nowMs:" +
  "e.nowMs,random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,onWritten:()=>a(X),onFailed:()=>r." +
  "post({kind:\"failed\"})});B.closed.then(w=>r.post({kind:\"closed\",end:w})),r.post({kind:\"connected\"})},f=async()=" +
  ">{let l=await t?.read();r.post({kind:\"chunk\",bytes:l?.slice()})};r.listen(l=>{switch(l.kind){case\"connect\":ret" +
  "urn void d(l).catch(c=>r.post({kind:\"refused\",message:v(c)}));case\"push\":return o+=l.envelope.length+u,n?.push" +
  "(l.lane,l.envelope);case\"cellBytes\":return n?.setCellBytes(l.cellBytes);case\"configure\":return n?.configure(l." +
  "mode,l.intervalMs);case\"covering\":return n?.setCovering(l.covering);case\"flush\":return void n?.flush(l.timeout" +
  "Ms).then(c=>{r.post({kind:\"flushed\",id:l.id,flushed:c})});case\"read\":return void f();case\"stop\":return n?.stop" +
  "();case\"close\":return t?.close(l.closeCode),void e.after(he,e.exit)}})}var g=require(\"node:http2\");var x=5,ue=" +
  "64*1024,F=10;function W(r,e){let t=ye(F,e),n=x+t.length+e,o=new Uint8Array(r.length/e*n);for(let a=0;a<r.lengt" +
  "h/e;a++){let d=a*n;me(o,d+1,t.length+e),o.set(t,d+x),o.set(r.subarray(a*e,(a+1)*e),d+x+t.length)}return o}func" +
  "tion q(r){let{value:e,end:t}=pe(r,0,F);if(t!==r.length)throw new y(\"protocol_error\",\"A cell's message holds mo" +
  "re than a cell\");return e}var U=class{#t=new Uint8Array(x);#e=0;#r=new Uint8Array(0);#i=0;read(e,t){let n=0;fo" +
  "r(;n<e.length;){if(this.#e<x){let a=e.subarray(n,n+x-this.#e);if(this.#t.set(a,this.#e),this.#e+=a.length,n+=a" +
  ".length,this.#e<x)return;this.#n()}let o=e.subarray(n,n+this.#r.length-this.#i);n+=o.length,o.length===this.#r" +
  ".length?this.#o(o,t):(this.#r.set(o,this.#i),this.#i+=o.length,this.#i===this.#r.length&&this.#o(this.#r,t))}}" +
  "#n(){let e=new DataView(this.#t.buffer).getUint32(1);if(e===0||e>ue)throw new y(\"protocol_error\",`A message of" +
  " ${e} bytes where cells are expected`);this.#r.length!==e&&(this.#r=new Uint8Array(e)),this.#i=0}#o(e,t){this." +
  "#e=0,t(this.#t[0]??0,e)}};function N(r){let e=new Uint8Array(r.reduce((n,{length:o})=>n+o,0)),t=0;for(let n of" +
  " r)e.set(n,t),t+=n.length;return e}function ye(r,e){let t=[r];for(let n=e;n>0||t.length===1;n>>>=7)t.push(n>12" +
  "7?n&127|128:n);return Uint8Array.from(t)}function pe(r,e,t){if(r[e]!==t)throw new y(\"protocol_error\",\"A messag" +
  "e without the field that it must have\");let[n,o]=[0,e+1];for(let a=1;a<=2**14;a*=128){let d=r[o++]??0;if(n+=(d" +
  "&127)*a,d<128){if(n>r.length-o)break;return{value:r.subarray(o,o+n),end:o+n}}}throw new y(\"protocol_error\",\"A " +
  "field goes beyond the end of its message\")}function me(r,e,t){new DataView(r.buffer,r.byteOffset).setUint32(e," +
  "t)}var $=require(\"node:crypto\"),j=require(\"node:net\"),k=require(\"node:tls\");function V({host:r,port:e,trust:t}" +
  ",n,o){return new Promise((a,d)=>{o.throwIfAborted();let f=t.certificateHashes.length>0,l=(0,k.connect)({host:r" +
  ",port:e,...(0,j.isIP)(r)===0&&{servername:r},ALPNProtocols:[n],minVersion:\"TLSv1.3\",...t.caCerts.length>0&&{ca" +
  ":[...k.rootCertificates,...t.caCerts]},rejectUnauthorized:!f}),c=B=>{o.removeEventListener(\"abort\",p),l.destro" +
  "y(),d(B)},p=()=>c(o.reason);o.addEventListener(\"abort\",p),l.once(\"error\",c),l.once(\"secureConnect\",()=>{if(f&&" +
  "!fe(l,t))return c(new Error(\"the relay's certificate is none of tls.certificateHashes\"));if(l.alpnProtocol!==n" +
  ")return c(new Error(`the server does not speak ${n}`));o.removeEventListener(\"abort\",p),l.removeListener(\"erro" +
  "r\",c),a(l)})})}function fe(r,{certificateHashes:e}){let t=(0,$.createHash)(\"sha256\").update(r.getPeerCertifica" +
  "te().raw).digest();return e.some(n=>M(n,t))}function z(){return Date.now()}var I=2**31-1;function S(r,e){let t" +
  "=o=>o>I?setTimeout(()=>n=t(o-I),I):setTimeout(e,o),n=t(r);return()=>clearTimeout(n)}function G(r){return crypt" +
  "o.getRandomValues(new Uint8Array(r))}var J=1024*1024,ge=1500,Q={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{}" +
  ",connect:async(r,e)=>new R(await V(r,\"h2\",e),r)},R=class{#t;#e;#r;#i=new U;#n;#o=()=>{};#a;closed;constructor(" +
  "e,{host:t,port:n}){this.closed=new Promise(o=>this.#o=o),this.#t=(0,g.connect)(`https://${t.includes(\":\")?`[${" +
  "t}]`:t}:${n}`,{createConnection:()=>e,settings:{initialWindowSize:J,enablePush:!1}}),this.#t.once(\"connect\",()" +
  "=>this.#t.setLocalWindowSize(J)),this.#t.on(\"error\",o=>this.#s({message:v(o)})),this.#t.on(\"goaway\",()=>this.#" +
  "t.close()),this.#e=this.#t.request({[g.constants.HTTP2_HEADER_METHOD]:\"POST\",[g.constants.HTTP2_HEADER_PATH]:\"" +
  "/static.relay.v1.Relay/Session\",[g.constants.HTTP2_HEADER_CONTENT_TYPE]:\"application/grpc\",[g.constants.HTTP2_" +
  "HEADER_TE]:\"trailers\"}),this.#e.on(\"error\",o=>this.#s({message:v(o)})),this.#e.on(\"response\",o=>this.#h(o)),th" +
  "is.#e.on(\"trailers\",o=>this.#u(o)),this.#e.on(\"close\",()=>{this.#s({message:\"the connection was cut off\"}),thi" +
  "s.#d()}),this.#r=this.#e[Symbol.asyncIterator]()}async read(){try{for(;;){let{done:e,value:t}=await this.#r.ne" +
  "xt();if(e)break;let n=[];if(this.#i.read(t,(o,a)=>{if(o!==0)throw new Error(\"compressed cells were not asked f" +
  "or\");n.push(q(a).slice())}),n.length>0)return N(n)}}catch(e){this.#s({message:v(e)})}this.#l()}write(e,t){retu" +
  "rn new Promise((n,o)=>{if(this.#n!==void 0)return o(new Error(this.#n.message));this.#e.write(W(e,t),a=>{if(!a" +
  ")return n();this.#s({message:v(a)}),o(a)})})}close(e){this.#o({message:\"it was closed by this side\"}),e===0?th" +
  "is.#l():this.#d()}#l(){this.#e.end(),this.#a??=S(ge,()=>this.#d())}#h(e){let t=e[g.constants.HTTP2_HEADER_STAT" +
  "US];if(t!==200)return this.#s({message:`Session was answered ${String(t)}`});e[\"grpc-status\"]!==void 0&&this.#" +
  "u(e)}#u(e){let{\"grpc-status\":t,\"grpc-message\":n}=e,o=typeof n==\"string\"&&n!==\"\"?ve(n):\"the relay ended the str" +
  "eam\";this.#s({message:t===\"0\"?\"the relay ended the stream\":o})}#s(e){this.#n===void 0&&(this.#n=e,this.#o(e),t" +
  "his.#l())}#d(){this.#a?.(),this.#a=()=>{},this.#n??={message:\"it was closed by this side\"},this.#e.destroy(),t" +
  "his.#t.destroy()}};function ve(r){try{return decodeURIComponent(r).slice(0,1024)}catch{return r.slice(0,1024)}" +
  "}D({post:r=>K.parentPort?.postMessage(r),listen:r=>{K.parentPort?.on(\"message\",r)}},{connectors:[Q],nowMs:z,af" +
  "ter:S,randomBytes:G,exit:()=>Y.default.exit()});\n";
