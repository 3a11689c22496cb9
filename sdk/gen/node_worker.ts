/** Built from sdk/platform/node_worker.ts by tools/generate_workers.ts; do not edit. */
export const source =
  "var Zt=Object.create;var Ge=Object.defineProperty;var Yt=Object.getOwnPropertyDescriptor;var Qt=Object.getOwnP" +
  "ropertyNames;var Xt=Object.getPrototypeOf,er=Object.prototype.hasOwnProperty;var tr=(r,e,t,n)=>{if(e&&typeof e" +
  "==\"object\"||typeof e==\"function\")for(let o of Qt(e))!er.call(r,o)&&o!==t&&Ge(r,o,{get:()=>e[o],enumerable:!(n=" +
  "Yt(e,o))||n.enumerable});return r};var Ze=(r,e,t)=>(t=r!=null?Zt(Xt(r)):{},tr(e||!r||!r.__esModule?Ge(t,\"defau" +
  "lt\",{value:r,enumerable:!0}):t,r));var Jt=Ze(require(\"node:process\")),Ve=require(\"node:worker_threads\");functi" +
  "on Xe(r){let e;return()=>e??=r()}var Ye=\"[\\\\u0600-\\\\u0dff\\\\u1000-\\\\u109f\\\\u1780-\\\\u17ff]\",Qe=\"\\\\p{Extended_Pic" +
  "tographic}[\\\\ufe0f\\\\p{Emoji_Modifier}]?\",rr=[`${Qe}(?:\\\\u200d${Qe})*`,\"[0-9#*]\\\\ufe0f\\\\u20e3\",`(?<=${Ye})[\\\\u2" +
  "00c\\\\u200d](?=${Ye})`,\"(?<=[\\\\p{L}\\\\p{N}\\\\p{P}\\\\p{S}])(?:(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{M}){1,4}\"].j" +
  "oin(\"|\"),nr=\"\\\\p{C}\\\\p{Zl}\\\\p{Zp}\\\\p{M}\\\\p{Default_Ignorable_Code_Point}\\\\u2800\",or=\"(?! )\\\\p{Zs}|^ |(?<= ) | " +
  "$|\\\\\\\\(?=u\\\\{[0-9a-f]+\\\\})\",ir=Xe(()=>new RegExp(`(${rr})|[${nr}]|${or}`,\"gu\")),Be=\"!-[\\\\]-~\\\\u00a1-\\\\u00ac\\\\u" +
  "00ae-\\\\u02ff\\\\u2010-\\\\u2027\\\\u2190-\\\\u21ff\\\\u2500-\\\\u259f\\\\u2713\\\\u2717\",sr=new RegExp(`^[${Be}]+(?: [${Be}]+)" +
  "*$`),Yr=new RegExp(`^[${Be} \\\\\\\\\\\\n\\\\t]*$`);var ar=/^[\\p{Zs}\\\\]/u;function dr(r,e){return r.replace(ir(),(t,n)" +
  "=>n??(e.test(t)?t:cr(t)))}function cr(r){return`\\\\u{${r.codePointAt(0)?.toString(16)}}`}function G(r){return s" +
  "r.test(r)?r:dr(r,ar)}var lr=[...\"Latn Grek Cyrl Armn Hebr Arab Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Ml" +
  "ym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr\".split(\" \").map(r=>[r]),[\"Latn\",\"Hani\",\"Hira\",\"Kana\"],[\"Latn\",\"Hani" +
  "\",\"Bopo\"],[\"Latn\",\"Hani\",\"Hang\"]],Qr=Xe(()=>{let r=lr.map(e=>e.map(t=>`\\\\p{scx=${t}}`).join(\"\"));return new Re" +
  "gExp(r.map(e=>`^[\\\\p{sc=Zyyy}\\\\p{sc=Zinh}${e}]*$`).join(\"|\"),\"u\")});var a={invalidArgument:3,deadlineExceeded:" +
  "4,notFound:5,alreadyExists:6,permissionDenied:7,resourceExhausted:8,failedPrecondition:9,aborted:10,outOfRange" +
  ":11,unimplemented:12,internal:13,unavailable:14,unauthenticated:16},d=(r,e,t,n)=>({http:r,grpc:e,close:t,error" +
  "Class:n,retryable:!1}),x=(...r)=>({...d(...r),retryable:!0}),Z={join_timeout:x(504,a.deadlineExceeded,257,\"Tra" +
  "nsportError\"),auth_failed:d(401,a.unauthenticated,258,\"AuthError\"),auth_key_invalid:d(401,a.unauthenticated,25" +
  "9,\"AuthError\"),transport_error:x(502,a.unavailable,260,\"TransportError\"),connection_error:x(502,a.unavailable," +
  "261,\"TransportError\"),listener_died:d(500,a.internal,262,\"TransportError\"),channel_error:d(400,a.invalidArgume" +
  "nt,263,\"ChannelError\"),quota_exceeded:d(429,a.resourceExhausted,264,\"QuotaExceededError\"),mls_error:d(409,a.fa" +
  "iledPrecondition,265,\"MlsError\"),invalid_request:d(400,a.invalidArgument,272,\"InvalidArgumentError\"),not_found" +
  ":d(404,a.notFound,273,\"ChannelError\"),method_not_allowed:d(405,a.unimplemented,274,\"InvalidArgumentError\"),pay" +
  "load_too_large:d(413,a.outOfRange,275,\"InvalidArgumentError\"),unsupported_media_type:d(415,a.invalidArgument,2" +
  "76,\"InvalidArgumentError\"),rate_limited:x(429,a.resourceExhausted,277,\"UnavailableError\"),internal:d(500,a.int" +
  "ernal,278,\"InternalError\"),overloaded:x(503,a.unavailable,279,\"UnavailableError\"),email_taken:d(409,a.alreadyE" +
  "xists,288,\"AuthError\"),key_limit_reached:d(409,a.resourceExhausted,289,\"AuthError\"),account_suspended:d(403,a." +
  "permissionDenied,290,\"AuthError\"),conflict:d(409,a.aborted,291,\"AuthError\"),code_invalid:d(400,a.invalidArgume" +
  "nt,292,\"AuthError\"),csrf_failed:d(403,a.permissionDenied,293,\"AuthError\"),protocol_error:d(400,a.invalidArgume" +
  "nt,304,\"TransportError\"),unsupported_version:d(400,a.failedPrecondition,305,\"TransportError\"),unknown_operatio" +
  "n:d(404,a.unimplemented,306,\"TransportError\"),session_expired:d(401,a.unauthenticated,307,\"AuthError\"),session" +
  "_replaced:d(409,a.aborted,308,\"TransportError\"),slow_reader:x(429,a.resourceExhausted,309,\"UnavailableError\")," +
  "relay_draining:x(503,a.unavailable,310,\"UnavailableError\"),certificate_changed:d(502,a.failedPrecondition,311," +
  "\"TransportError\"),name_taken:d(409,a.alreadyExists,320,\"ChannelError\"),epoch_conflict:x(409,a.aborted,321,\"Mls" +
  "Error\"),not_allowed:d(403,a.permissionDenied,322,\"ChannelError\"),member_limit_reached:d(409,a.resourceExhauste" +
  "d,323,\"ChannelError\"),already_member:d(409,a.alreadyExists,324,\"ChannelError\"),identity_present:d(409,a.alread" +
  "yExists,356,\"ChannelError\"),queue_full:x(429,a.resourceExhausted,325,\"ChannelError\"),cursor_invalid:d(416,a.ou" +
  "tOfRange,326,\"ChannelError\"),key_package_invalid:d(400,a.invalidArgument,327,\"MlsError\"),key_package_missing:x" +
  "(404,a.failedPrecondition,328,\"MlsError\"),join_rejected:d(403,a.permissionDenied,329,\"ChannelError\"),membershi" +
  "p_lapsed:d(410,a.failedPrecondition,330,\"ChannelError\"),state_conflict:d(409,a.failedPrecondition,331,\"MlsErro" +
  "r\"),storage_full:x(507,a.resourceExhausted,332,\"ChannelError\"),link_invalid:d(400,a.invalidArgument,333,\"Inval" +
  "idArgumentError\"),removed:d(410,a.failedPrecondition,355,\"RemovedError\"),members_must_update:d(409,a.failedPre" +
  "condition,334,\"ChannelError\"),successor_needed:d(409,a.failedPrecondition,335,\"ChannelError\"),choice_needed:d(" +
  "409,a.failedPrecondition,357,\"ChannelError\"),not_attested:d(403,a.permissionDenied,358,\"ChannelError\"),members" +
  "_not_attested:d(409,a.failedPrecondition,359,\"ChannelError\"),content_invalid:d(400,a.invalidArgument,352,\"Chan" +
  "nelError\"),request_timeout:x(504,a.deadlineExceeded,353,\"TransportError\"),remote_error:d(502,a.aborted,354,\"Re" +
  "moteError\"),store_locked:x(409,a.failedPrecondition,336,\"StoreError\"),store_corrupt:d(500,a.internal,337,\"Stor" +
  "eError\"),store_full:d(507,a.resourceExhausted,340,\"StoreError\"),store_failed:d(500,a.internal,339,\"StoreError\"" +
  "),passphrase_wrong:d(401,a.unauthenticated,338,\"StoreError\")};function N(r){return Object.hasOwn(Z,r)}var tn=n" +
  "ew Map(Object.entries(Z).flatMap(([r,{close:e}])=>N(r)?[[e,r]]:[])),v=class extends Error{name=\"WireError\";cod" +
  "e;requestId;constructor(e,t,n={}){super(G(t),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.request" +
  "Id=n.requestId}};var C=Object.freeze({cellBytes:4096,minCellBytes:1024,maxCellBytes:16384,payloadBytes:1048576" +
  ",ciphertextBytes:1081344,keyPackageBytes:16384,commitBytes:262144,welcomeBytes:2097152,leafNodeBytes:4096,crea" +
  "torWelcomeBytes:1024,envelopeBytes:2490368,handshakeEnvelopeBytes:16384,cborDepth:6,cborItems:32768,membersPer" +
  "Channel:1e3,welcomesPerCommit:16,keyPackagesPerUpload:100,channelsPerPage:500,answersPerCommit:1e3,proofsPerCo" +
  "mmit:128,ownersPerChannel:64,ownersChanges:64,issuersPerChannel:16,issuersBytes:1024,badgeAttributesBytes:128," +
  "ownersChangeBytes:2048,admissions:16,claimsForFounding:100,confirmationsPerPage:10,unconfirmedPerPage:40,featu" +
  "resPerSession:64,identityBytes:256,tokenBytes:8192,originBytes:300,sessionTokenBytes:64,errorTextBytes:1024,er" +
  "rorCodeBytes:64,nameComponentBytes:63,channelNameBytes:191,emailBytes:254,contentFieldsBytes:8192,contentTypeB" +
  "ytes:127,contentAddressees:64,conversationBytes:128,contentHeaders:32,contentHeaderNameBytes:64,contentHeaderV" +
  "alueBytes:1024,contentErrorBytes:64,contentConfirmationBytes:120,contentReceipts:64,queueBytesPerChannel:67108" +
  "864,queueAgeMs:6048e5,windowBytes:16777216,challengeMs:3e4,joinRequestMs:6e5,inviteUses:1e4,clockSkewMs:6e5,ke" +
  "yPackageLifetimeMs:864e7,minCoverIntervalMs:10,maxCoverIntervalMs:36e5});function Se(r,e){if(r.length!==e.leng" +
  "th)return!1;let t=0;for(let n=0;n<r.length;n++)t|=(r[n]??0)^(e[n]??0);return t===0}var P=3,w=4,Q=2,Ue={control" +
  ":0,data:1};function ue(r){if(!Number.isInteger(r)||r<C.minCellBytes||r>C.maxCellBytes)throw new v(\"protocol_er" +
  "ror\",`A cell has ${C.minCellBytes} to ${C.maxCellBytes} bytes, not ${r}`);return r}function he(r){if(r===0||r>" +
  "C.envelopeBytes)throw new v(\"payload_too_large\",`Cannot send an envelope of ${r} bytes; 1 to ${C.envelopeBytes" +
  "} are allowed`)}var Y=class{#e;#t=[];#r=[];#n=[0,0];#o=0;constructor(e){this.#e=ue(e)}set cellBytes(e){if(this" +
  ".#o>0)throw new TypeError(\"Cannot change the cell size while envelopes are waiting\");this.#e=ue(e)}get cellByt" +
  "es(){return this.#e}get pendingBytes(){return this.#o}push(e,t){he(t.length),(e===\"control\"?this.#t:this.#r).p" +
  "ush(t),this.#o+=t.length+w}next(e){let t=this.#t.length>0?Ue.control:Ue.data,n=t===Ue.control?this.#t:this.#r;" +
  "if(n.length===0)return;let o=e?.length===this.#e?e:new Uint8Array(this.#e);return this.#i(o,n,t),o}#i(e,t,n){l" +
  "et o=P,i=0,s=this.#n[n]??0;for(let u of t){if(s===0){if(e.length-o<=w)break;ur(e,o,u.length),o+=w,s=w}let c=s-" +
  "w,f=u.subarray(c,c+e.length-o);if(e.set(f,o),o+=f.length,s+=f.length,s-w<u.length)break;i++,s=0}let l=o-P;i===" +
  "1?t.shift():t.splice(0,i),this.#n[n]=s,this.#o-=l,e[0]=n,e[1]=l>>8,e[2]=l&255,e.fill(0,o)}};function ke(r,e,t)" +
  "{let n=e+Q;return r.set(t,n),r[e]=t.length>>8,r[e+1]=t.length&255,n+t.length}function ur(r,e,t){r[e]=t>>>24,r[" +
  "e+1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}var hr=64*1024,et=.5,fr=2,X=class{#e;#t;#r=[];#n=0;#o=0;#i=new Uint8Array(0)" +
  ";#s=\"off\";#d=0;#c;#l=0;#a=!0;#u=!1;#f=!1;#h=!1;#p=new Set;#m={cells:0,coverCells:0,coverBytes:0,paddingBytes:0" +
  "};constructor(e){this.#e=e,this.#t=new Y(e.cellBytes)}get pendingBytes(){return this.#t.pendingBytes+this.#n+t" +
  "his.#o}get counts(){return{...this.#m}}push(e,t){this.#h||(this.#r.length===0?this.#t.push(e,t):(he(t.length)," +
  "this.#r.push({lane:e,envelope:t}),this.#n+=t.length+w),this.#y())}setCellBytes(e){this.#r.push({cellBytes:ue(e" +
  ")}),this.#k()}configure(e,t){if(!this.#h){if(e!==\"off\"&&!(t>0))throw new RangeError(`Cover needs an interval a" +
  "bove 0, not ${t}`);this.#c?.(),this.#c=void 0,this.#s=e,this.#d=t,this.#u=!1,this.#l=this.#e.nowMs(),e!==\"off\"" +
  "&&this.#A(),this.#y()}}setCovering(e){this.#a=e}flush(e){return this.#h?Promise.resolve(this.pendingBytes===0)" +
  ":!this.#f&&this.pendingBytes===0?Promise.resolve(!0):new Promise(t=>{let n=i=>{this.#p.delete(n),o(),t(i)},o=t" +
  "his.#e.after(e,()=>n(!1));this.#p.add(n)})}stop(){this.#h=!0,this.#c?.(),this.#c=void 0,this.#i=new Uint8Array" +
  "(0);for(let e of this.#p)e(!1)}#y(){this.#f||this.#h||!this.#x()||(this.#f=!0,this.#C())}#x(){return this.#u||" +
  "this.#s!==\"constant\"&&this.#t.pendingBytes>0}async#C(){await void 0;try{for(;!this.#h&&this.#x();){let e=this." +
  "#s===\"constant\"?this.#w():this.#P();if(await this.#e.write(e,this.#t.cellBytes),this.#o=0,this.#h)break;this.#" +
  "k(),this.#e.onWritten?.()}}catch(e){this.#o=0;let t=this.#h;this.stop(),t||this.#e.onFailed?.(e)}this.#f=!1,th" +
  "is.#b()}#b(){if(!(this.#h||this.pendingBytes>0)){this.#i.length>fr*this.#t.cellBytes&&(this.#i=new Uint8Array(" +
  "0));for(let e of this.#p)e(!0)}}#w(){this.#u=!1;let e=this.#v(1);return this.#B(e)?e:this.#S(e)}#P(){let{cellB" +
  "ytes:e,pendingBytes:t}=this.#t;if(t===0)return this.#u=!1,this.#S(this.#v(1));let n=Math.ceil(t/(e-P))+1,o=thi" +
  "s.#v(Math.min(n,Math.max(1,Math.floor(hr/e)))),i=0;for(;i<o.length&&this.#B(o.subarray(i,i+e));)i+=e;return o." +
  "subarray(0,i)}#v(e){let t=e*this.#t.cellBytes;return this.#i.length<t&&(this.#i=new Uint8Array(t)),this.#i.sub" +
  "array(0,t)}#B(e){let t=this.#t.pendingBytes;if(this.#t.next(e)===void 0)return!1;let n=t-this.#t.pendingBytes;" +
  "return this.#o+=n,this.#m.cells++,this.#m.paddingBytes+=e.length-P-n,this.#U(e,P+n),!0}#S(e){return this.#m.ce" +
  "lls++,this.#m.coverCells++,this.#m.coverBytes+=e.length,this.#U(e.fill(0),P),e}#U(e,t){let{rider:n}=this.#e;if" +
  "(n!==void 0)for(let o=t;e.length-o>Q;){let i=n(e.length-o-Q);if(i===void 0)return;o=ke(e,o,i)}}#A(){let e=this" +
  ".#e.nowMs();this.#c=this.#e.after(this.#s===\"poisson\"?this.#M():this.#T(e),()=>{this.#u=this.#a||this.#s===\"co" +
  "nstant\"&&this.#t.pendingBytes>0,this.#A(),this.#y()})}#M(){return-Math.log(1-this.#e.random())*this.#d}#T(e){t" +
  "his.#l=mr(this.#l,this.#d,e);let t=this.#e.random()*et*this.#d;return Math.max((1-et)*this.#d,this.#l-t-e)}#k(" +
  "){for(;this.#t.pendingBytes===0&&this.#r.length>0;){let e=this.#r.findIndex((t,n)=>n>0&&\"cellBytes\"in t);for(l" +
  "et t of this.#r.splice(0,e<0?this.#r.length:e))\"cellBytes\"in t?this.#t.cellBytes=t.cellBytes:(this.#n-=t.envel" +
  "ope.length+w,this.#t.push(t.lane,t.envelope))}}};function mr(r,e,t){if(t<r-e)return t+e;let n=Math.max(0,Math." +
  "floor((t-r)/e));return r+(n+1)*e}function ee(r){let e=[];for(let t=r;t!==void 0&&e.length<3;t=t instanceof Err" +
  "or?t.cause:void 0){let n=t instanceof Error?t.message:String(t);n!==\"\"&&!e.some(o=>o.includes(n))&&e.push(n)}r" +
  "eturn e.join(\": \")}var fe=class{#e=new Map;offer(e,t){this.#e.delete(e),this.#e.set(e,t)}take(e){for(let[t,n]o" +
  "f this.#e)if(!(n.length>e))return this.#e.delete(t),n}};var pr=2e3;function tt(r,e){let t,n,o=0,i=new fe,s=c=>" +
  "{r.post({kind:\"written\",takenBytes:o-c.pendingBytes,counts:c.counts})},l=async({transport:c,target:f,isTapped:" +
  "I})=>{let R=e.connectors.find(y=>y.transport===c);if(R===void 0)throw new Error(`no way to connect by ${c} in " +
  "a thread of its own`);let D=t=await R.connect(f,new AbortController().signal),O=n=new X({cellBytes:C.cellBytes" +
  ",write:(y,_)=>(I&&r.post({kind:\"sent\",cells:y.slice(),cellBytes:_}),D.write(y,_)),after:e.after,nowMs:e.nowMs," +
  "random:()=>new DataView(e.randomBytes(4).buffer).getUint32(0)/2**32,rider:y=>i.take(y),onWritten:()=>s(O),onFa" +
  "iled:()=>r.post({kind:\"failed\"})});D.closed.then(y=>r.post({kind:\"closed\",end:y})),r.post({kind:\"connected\"})}" +
  ",u=async()=>{let c=await t?.read();r.post({kind:\"chunk\",bytes:c?.slice()})};r.listen(c=>{switch(c.kind){case\"c" +
  "onnect\":return void l(c).catch(f=>r.post({kind:\"refused\",message:ee(f)}));case\"push\":return o+=c.envelope.leng" +
  "th+w,n?.push(c.lane,c.envelope);case\"offer\":return i.offer(c.key,c.envelope);case\"cellBytes\":return n?.setCell" +
  "Bytes(c.cellBytes);case\"configure\":return n?.configure(c.mode,c.intervalMs);case\"covering\":return n?.setCoveri" +
  "ng(c.covering);case\"flush\":return void n?.flush(c.timeoutMs).then(f=>{r.post({kind:\"flushed\",id:c.id,flushed:f" +
  "})});case\"read\":return void u();case\"stop\":return n?.stop();case\"close\":return t?.close(c.closeCode),void e.af" +
  "ter(pr,e.exit)}})}var p={noError:0,protocolError:1,internalError:2,flowControlError:3,settingsTimeout:4,stream" +
  "Closed:5,frameSizeError:6,refusedStream:7,cancel:8,compressionError:9,connectError:10,enhanceYourCalm:11,inade" +
  "quateSecurity:12,http11Required:13},yr=new Map(Object.entries(p).map(([r,e])=>[e,r]));function _e(r){return yr" +
  ".get(r)??`code ${r}`}var m=class extends Error{name=\"ConnectionError\";code;constructor(e,t){super(t),this.code" +
  "=e}};var b={regular:0,malformed:1,method:2,scheme:3,authority:4,path:5,host:6,contentLength:7,cookie:8},Pe=new" +
  " Set([\"connection\",\"keep-alive\",\"proxy-connection\",\"transfer-encoding\",\"upgrade\"]),gr=new Map([[\":method\",b.me" +
  "thod],[\":scheme\",b.scheme],[\":authority\",b.authority],[\":path\",b.path],[\"host\",b.host],[\"content-length\",b.con" +
  "tentLength],[\"cookie\",b.cookie]]),rt=/^[!#$%&'*+\\-.^_`|~0-9a-z]+$/,nt=/^(?:[!-~\\x80-\\xff](?:[\\t -~\\x80-\\xff]*[" +
  "!-~\\x80-\\xff])?)?$/;function H(r,e){return{name:r,value:e,kind:xr(r,e),size:r.length+e.length+32}}function ot(" +
  "r,e){return rt.test(r)&&nt.test(e)}function xr(r,e){let t=gr.get(r);return nt.test(e)?t!==void 0?t:r===\"te\"?e." +
  "toLowerCase()===\"trailers\"?b.regular:b.malformed:Pe.has(r)?b.malformed:rt.test(r)?b.regular:b.malformed:b.malf" +
  "ormed}var h={data:0,headers:1,priority:2,rstStream:3,settings:4,pushPromise:5,ping:6,goaway:7,windowUpdate:8,c" +
  "ontinuation:9},g={ack:1,endStream:1,endHeaders:4,padded:8,priority:32},A={headerTableSize:1,enablePush:2,maxCo" +
  "ncurrentStreams:3,initialWindowSize:4,maxFrameSize:5,maxHeaderListSize:6,noRfc7540Priorities:9},Me=new TextEnc" +
  "oder().encode(`PRI * HTTP/2.0\\r\n\\r\nSM\\r\n\\r\n`),E=9,M=16384,it=16777215,z=65535,te=2**31-1,br=2**31-1;function q" +
  "(r,e){return((r[e]??0)<<24|(r[e+1]??0)<<16|(r[e+2]??0)<<8|(r[e+3]??0))>>>0}function re(r,e,t){r[e]=t>>>24,r[e+" +
  "1]=t>>>16,r[e+2]=t>>>8,r[e+3]=t}function me(r,e,{length:t,type:n,flags:o,streamId:i}){return r[e]=t>>16,r[e+1]" +
  "=t>>8,r[e+2]=t,r[e+3]=n,r[e+4]=o,re(r,e+5,i),e+E}function j(r,e){return q(r,e)&2147483647}var st=new Uint8Arra" +
  "y(0),ne=class{#e;#t;#r={type:0,flags:0,streamId:0,bytes:st,start:0,end:0};#n=new Uint8Array(E);#o=0;#i;#s=0;#d" +
  "=0;#c=!1;constructor(e,t=st){this.#e=e,this.#t=t}get prefaceSeen(){return this.#d===this.#t.length}stop(){this" +
  ".#c=!0,this.#i=void 0}receive(e){let t=this.prefaceSeen?0:this.#l(e);for(this.#o>0&&(t=this.#a(e,t));!this.#c&" +
  "&e.length-t>=E;){let n=at(e,t),o=t+E+n;if(o>e.length)break;this.#u(e,t,e,t+E,o),t=o}!this.#c&&t<e.length&&this" +
  ".#a(e,t)}#l(e){let t=0;for(;t<e.length&&!this.prefaceSeen;)if(e[t++]!==this.#t[this.#d++])throw new m(p.protoc" +
  "olError,\"The client did not send the HTTP/2 connection preface\");return t}#a(e,t){let n=t;for(;this.#o<E;){if(" +
  "n===e.length)return n;this.#n[this.#o++]=e[n++]??0}let o=this.#i??=new Uint8Array(at(this.#n,0)),i=Math.min(o." +
  "length-this.#s,e.length-n);return o.set(e.subarray(n,n+i),this.#s),this.#s+=i,this.#s===o.length&&(this.#i=voi" +
  "d 0,this.#s=0,this.#o=0,this.#u(this.#n,0,o,0,o.length)),n+i}#u(e,t,n,o,i){let s=this.#r;s.type=e[t+3]??0,s.fl" +
  "ags=e[t+4]??0,s.streamId=j(e,t+5),s.bytes=n,s.start=o,s.end=i,this.#e(s)}};function at(r,e){let t=(r[e]??0)<<1" +
  "6|(r[e+1]??0)<<8|(r[e+2]??0);if(t>M)throw new m(p.frameSizeError,`A frame of ${t} bytes is above the limit of " +
  "${M}`);return t}function pe(r,e){if((r.flags&g.padded)===0){if(r.end-r.start<e)throw dt(\"HEADERS\");return{star" +
  "t:r.start+e,end:r.end}}let t=r.end-r.start;if(t<1+e)throw dt(\"A padded frame\");let n=r.bytes[r.start]??0;if(n>" +
  "t-1-e)throw new m(p.protocolError,\"Padding is longer than its frame\");return{start:r.start+1+e,end:r.end-n}}fu" +
  "nction dt(r){return new m(p.frameSizeError,`${r} has a length that its type does not allow`)}var oe=class{stre" +
  "amId;endStream;#e;#t=[];#r=0;#n=0;constructor(e,t){this.streamId=e.id,this.endStream=e.endStream,this.#e=t}add" +
  "(e,t,n){if(ct(this.#r+=n-t,this.#e),++this.#n>this.#e.headerBlockFrames)throw new m(p.enhanceYourCalm,`A heade" +
  "r block of more than ${this.#e.headerBlockFrames} frames is above the limit`);this.#t.push(e.slice(t,n))}join(" +
  "){let e=new Uint8Array(this.#r),t=0;for(let n of this.#t)e.set(n,t),t+=n.length;return e}};function ct(r,e){if" +
  "(r>e.headerBlockBytes)throw new m(p.enhanceYourCalm,`A header block of more than ${e.headerBlockBytes} bytes i" +
  "s above the limit`)}var V=class{#e;#t;#r;#n=0;#o=0;#i=0;constructor(e,t){this.#r=e,this.#e=new Array(Math.max(" +
  "1,Math.floor(e/32))),this.#t=t}get bytes(){return this.#n}get count(){return this.#o}get insertions(){return t" +
  "his.#i}get(e){return e<this.#o?this.#e[(this.#i-1-e)%this.#e.length]:void 0}resize(e){this.#r=e,this.#s(e)}ins" +
  "ert(e){return this.#s(this.#r-e.size),e.size>this.#r?!1:(this.#e[this.#i%this.#e.length]=e,this.#i++,this.#o++" +
  ",this.#n+=e.size,!0)}#s(e){for(;this.#o>0&&this.#n>e;){let t=this.#i-this.#o,n=t%this.#e.length,o=this.#e[n];t" +
  "his.#e[n]=void 0,this.#o--,o!==void 0&&(this.#n-=o.size,this.#t?.(o,t))}}};var ye=[13,23,28,28,28,28,28,28,28," +
  "24,30,28,28,30,28,28,28,28,28,28,28,28,30,28,28,28,28,28,28,28,28,28,6,10,10,12,13,6,8,11,10,10,8,11,8,6,6,6,5" +
  ",5,5,6,6,6,6,6,6,6,7,8,15,6,12,10,13,6,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,8,7,8,13,19,13,14,6,15,5,6," +
  "5,6,5,6,6,6,5,7,7,6,6,6,5,6,7,6,5,5,6,7,7,7,7,7,15,11,14,13,28,20,22,20,20,22,22,22,23,22,23,23,23,23,23,24,23" +
  ",24,24,22,23,24,23,23,23,23,21,22,23,22,23,23,24,22,21,20,22,22,23,23,21,23,22,22,24,21,22,23,23,21,21,22,21,2" +
  "3,22,23,23,20,22,22,22,23,22,22,23,26,26,20,19,22,23,22,25,26,26,26,27,27,26,24,25,19,21,26,27,27,26,27,24,21," +
  "21,26,26,28,27,27,27,20,24,20,21,22,21,21,23,22,22,25,25,24,24,26,23,26,27,26,26,27,27,27,27,27,28,27,27,27,27" +
  ",27,26,30],Te=4294967295,ut=256,ht=wr(ye),lt=vr();function ft(r){let e=0;for(let t=0;t<r.length;t++)e+=ye[r.ch" +
  "arCodeAt(t)]??0;return e+7>>3}function mt(r,e,t){let[n,o,i]=[0,0,t];for(let s=0;s<r.length;s++){let l=r.charCo" +
  "deAt(s),u=ye[l]??0,c=ht[l]??0;for(;u>0;){let f=Math.min(u,8-o);u-=f,n=n<<f|c>>>u&(1<<f)-1,o+=f,o===8&&(e[i++]=" +
  "n,n=0,o=0)}}return o>0&&(e[i++]=n<<8-o|255>>o),i}function pt(r,e,t){let[n,o]=[0,0];for(let i=e.start;i<e.end;i" +
  "++){let s=r[i]??0;for(let l=4;l>=0;l-=4){let u=lt.steps[n<<4|s>>l&15]??Te;if(u===Te)return;if((u&ut)!==0){if(o" +
  "===t.length)return;t[o++]=u&255}n=u>>9}}return lt.accepting[n]===1?o:void 0}function wr(r){let e=new Uint32Arr" +
  "ay(r.length),t=0;for(let n=1;n<=30;n++)r.forEach((o,i)=>{o===n&&(e[i]=t++)}),t=t*2;return e}function vr(){let " +
  "r=[[]];ye.forEach((o,i)=>{let s=0;for(let l=o-1;l>=0;l--){let u=(ht[i]??0)>>>l&1,c=r[s]??[];l===0?c[u]=-1-i:s=" +
  "c[u]??=r.push([])-1}});let e=new Uint32Array(r.length*16);for(let o=0;o<r.length;o++)for(let i=0;i<16;i++)e[o<" +
  "<4|i]=Ar(r,o,i);let t=new Uint8Array(r.length),n=0;for(let o=0;o<8&&n!==void 0;o++)t[n]=1,n=r[n]?.[1];return{s" +
  "teps:e,accepting:t}}function Ar(r,e,t){let[n,o]=[e,0];for(let i=3;i>=0;i--){let s=r[n]?.[t>>i&1];if(s===void 0" +
  "||s===-257)return Te;s<0&&(o=ut|-1-s),n=Math.max(s,0)}return(n<<9|o)>>>0}var Er=`:authority\n:method GET\n:metho" +
  "d POST\n:path /\n:path /index.html\n:scheme http\n:scheme https\n:status 200\n:status 204\n:status 206\n:status 304\n:s" +
  "tatus 400\n:status 404\n:status 500\naccept-charset\naccept-encoding gzip, deflate\naccept-language\naccept-ranges\na" +
  "ccept\naccess-control-allow-origin\nage\nallow\nauthorization\ncache-control\ncontent-disposition\ncontent-encoding\nc" +
  "ontent-language\ncontent-length\ncontent-location\ncontent-range\ncontent-type\ncookie\ndate\netag\nexpect\nexpires\nfro" +
  "m\nhost\nif-match\nif-modified-since\nif-none-match\nif-range\nif-unmodified-since\nlast-modified\nlink\nlocation\nmax-f" +
  "orwards\nproxy-authenticate\nproxy-authorization\nrange\nreferer\nrefresh\nretry-after\nserver\nset-cookie\nstrict-tran" +
  "sport-security\ntransfer-encoding\nuser-agent\nvary\nvia\nwww-authenticate`,J=Er.split(`\n`).map(r=>{let e=r.indexOf" +
  "(\" \");return e<0?H(r,\"\"):H(r.slice(0,e),r.slice(e+1))}),ie=J.length,yt=new Map(J.map((r,e)=>[r.name,e+1]).reve" +
  "rse());var L=4096,gt=2**28,se=class{#e;#t=new V(L);#r=new Uint8Array(256);#n=this.#r;#o=0;#i=0;constructor(e){" +
  "this.#e=e}decode(e,t,n){this.#n=e,this.#o=t,this.#i=n;let o=[],i=0,s=!0;for(;this.#o<n;){let l=e[this.#o]??0;i" +
  "f((l&224)===32){if(!s)throw T(\"a table size update follows a field\");this.#c();continue}s=!1;let u=this.#s(l);" +
  "i+=u.size,i<=this.#e&&o.push(u)}return this.#n=this.#r,{fields:o,oversized:i>this.#e}}#s(e){if(e>=128)return t" +
  "his.#d(this.#l(7));let t=e>=64,n=this.#l(t?6:4),o=n===0?this.#a():this.#d(n).name,i=H(o,this.#a());return t&&t" +
  "his.#t.insert(i),i}#d(e){let t=e<=ie?J[e-1]:this.#t.get(e-ie-1);if(t===void 0)throw T(`index ${e} names no ent" +
  "ry`);return t}#c(){let e=this.#l(5);if(e>L)throw T(`a table of ${e} bytes is above the limit of ${L}`);this.#t" +
  ".resize(e)}#l(e){let t=(1<<e)-1,n=(this.#n[this.#o++]??0)&t;if(n<t)return n;for(let o=1;;o*=128){if(this.#o>=t" +
  "his.#i)throw T(\"an integer is cut off\");let i=this.#n[this.#o++]??0;if(n+=(i&127)*o,n>gt||o>gt)throw T(\"an int" +
  "eger is too large\");if(i<128)return n}}#a(){if(this.#o>=this.#i)throw T(\"a string is cut off\");let e=(this.#n[" +
  "this.#o]??0)>=128,t=this.#l(7),n=this.#o,o=n+t;if(o>this.#i)throw T(\"a string is cut off\");if(this.#o=o,!e)ret" +
  "urn xt(this.#n.subarray(n,o));let i=(t*8/5|0)+1;this.#r.length<i&&(this.#r=new Uint8Array(i));let s=pt(this.#n" +
  ",{start:n,end:o},this.#r);if(s===void 0)throw T(\"a string has an invalid Huffman code\");return xt(this.#r.suba" +
  "rray(0,s))}};function xt(r){if(r.length<=4096)return String.fromCharCode(...r);let e=\"\";for(let t=0;t<r.length" +
  ";t+=4096)e+=String.fromCharCode(...r.subarray(t,t+4096));return e}function T(r){return new m(p.compressionErro" +
  "r,`Cannot decode a header block: ${r}`)}var Cr=new Set([\"authorization\",\"proxy-authorization\",\"cookie\",\"set-co" +
  "okie\"]),Br=new Set([\"content-length\",\"date\",\"etag\",\"grpc-message\",\"grpc-status-details-bin\",\"location\"]),Sr=12" +
  "8,ae=class{#e=new Map;#t=new V(L,(e,t)=>{let n=this.#e.get(e.name);n?.get(e.value)===t&&(n.delete(e.value),n.s" +
  "ize===0&&this.#e.delete(e.name))});#r=new Uint8Array(256);#n=0;#o=L;#i;setTableBytes(e){let t=Math.min(e,L);t=" +
  "==this.#o&&this.#i===void 0||(this.#i=Math.min(this.#i??t,t),this.#o=t,this.#t.resize(t))}encode(e,t=[]){this." +
  "#n=0,this.#l();try{for(let[n,o]of t)this.#s(n,o);for(let[n,o]of e){if(n.startsWith(\":\"))throw bt(n);this.#s(n," +
  "o)}}catch(n){throw this.#t.resize(0),this.#t.resize(this.#o),this.#i=0,n}return this.#r.subarray(0,this.#n)}#s" +
  "(e,t){let n=this.#e.get(e)?.get(t);if(n!==void 0){this.#a(128,7,ie+this.#t.insertions-n);return}let o=Ur.get(e" +
  ")?.get(t);o!==void 0?this.#a(128,7,o):e!==e.toLowerCase()?this.#s(e.toLowerCase(),t):this.#d(e,t)}#d(e,t){if(P" +
  "e.has(e))return;if(!ot(e.startsWith(\":\")?e.slice(1):e,t))throw bt(e);let n=Cr.has(e),o=!n&&!Br.has(e)&&t.lengt" +
  "h<=Sr,i=yt.get(e)??0;o?this.#a(64,6,i):this.#a(n?16:0,4,i),i===0&&this.#u(e),this.#u(t),o&&this.#c(e,t)}#c(e,t" +
  "){if(!this.#t.insert(H(e,t)))return;let n=this.#e.get(e)??new Map;n.set(t,this.#t.insertions-1),this.#e.set(e," +
  "n)}#l(){this.#i!==void 0&&(this.#i<this.#o&&this.#a(32,5,this.#i),this.#a(32,5,this.#o),this.#i=void 0)}#a(e,t" +
  ",n){this.#f(8);let o=(1<<t)-1;if(n<o){this.#r[this.#n++]=e|n;return}this.#r[this.#n++]=e|o;let i=n-o;for(;i>=1" +
  "28;i>>>=7)this.#r[this.#n++]=i&127|128;this.#r[this.#n++]=i}#u(e){let t=ft(e);if(t<e.length){this.#a(128,7,t)," +
  "this.#f(t),this.#n=mt(e,this.#r,this.#n);return}this.#a(0,7,e.length),this.#f(e.length);for(let n=0;n<e.length" +
  ";n++)this.#r[this.#n++]=e.charCodeAt(n)}#f(e){if(this.#r.length-this.#n>=e)return;let t=new Uint8Array(Math.ma" +
  "x(this.#r.length*2,this.#n+e));t.set(this.#r.subarray(0,this.#n)),this.#r=t}},Ur=(()=>{let r=new Map;return J." +
  "forEach(({name:e,value:t},n)=>{let o=r.get(e)??new Map;r.set(e,o.set(t,n+1))}),r})();function bt(r){return new" +
  " TypeError(`Cannot send header \"${r.slice(0,64)}\": its name or value has characters that HTTP/2 forbids`)}var " +
  "F=6;function Fe(r,e){for(let t=r.start;t<r.end;t+=F){let n=(r.bytes[t]??0)<<8|(r.bytes[t+1]??0),o=q(r.bytes,t+" +
  "2);kr(n,o),e(n,o)}}function kr(r,e){switch(r){case A.enablePush:case A.noRfc7540Priorities:if(e>1)throw new m(" +
  "p.protocolError,`Setting ${r} must be 0 or 1, not ${e}`);return;case A.initialWindowSize:if(e>te)throw new m(p" +
  ".flowControlError,`An initial window of ${e} bytes is above 2^31-1`);return;case A.maxFrameSize:if(e<M||e>it)t" +
  "hrow new m(p.protocolError,`A maximum frame size of ${e} is not allowed`);return}}function ge({host:r,port:e})" +
  "{return`${r.includes(\":\")?`[${r}]`:r}:${e}`}var $=5,_r=64*1024,wt=10,Ie=new TextDecoder;function vt(r,e){let t" +
  "=Pr(wt,e),n=$+t.length+e,o=new Uint8Array(r.length/e*n);for(let i=0;i<r.length/e;i++){let s=i*n;Mr(o,s+1,t.len" +
  "gth+e),o.set(t,s+$),o.set(r.subarray(i*e,(i+1)*e),s+$+t.length)}return o}function At(r){let{value:e,end:t}=Bt(" +
  "r,0,wt);if(t!==r.length)throw new v(\"protocol_error\",\"A cell's message holds more than a cell\");return e}funct" +
  "ion Et(r){let e={code:\"\",message:\"\"};for(let{field:t,value:n}of Re(r))t===4&&typeof n==\"number\"&&(e={...e,retr" +
  "yAfterMs:n}),typeof n!=\"number\"&&(t===1&&(e={...e,code:Ie.decode(n)}),t===2&&(e={...e,message:Ie.decode(n)}));" +
  "return e}function*Ct(r){for(let{field:e,value:t}of Re(r)){if(e!==3||typeof t==\"number\")continue;let[n,o]=[\"\",n" +
  "ew Uint8Array];for(let i of Re(t))typeof i.value!=\"number\"&&(i.field===1&&(n=Ie.decode(i.value).replace(/^.*\\/" +
  "/,\"\")),i.field===2&&(o=i.value.slice()));yield{type:n,value:o}}}var xe=class{#e=new Uint8Array($);#t=0;#r=new " +
  "Uint8Array(0);#n=0;read(e,t){let n=0;for(;n<e.length;){if(this.#t<$){let i=e.subarray(n,n+$-this.#t);if(this.#" +
  "e.set(i,this.#t),this.#t+=i.length,n+=i.length,this.#t<$)return;this.#o()}let o=e.subarray(n,n+this.#r.length-" +
  "this.#n);n+=o.length,o.length===this.#r.length?this.#i(o,t):(this.#r.set(o,this.#n),this.#n+=o.length,this.#n=" +
  "==this.#r.length&&this.#i(this.#r,t))}}#o(){let e=new DataView(this.#e.buffer).getUint32(1);if(e===0||e>_r)thr" +
  "ow new v(\"protocol_error\",`A message of ${e} bytes where cells are expected`);this.#r.length!==e&&(this.#r=new" +
  " Uint8Array(e)),this.#n=0}#i(e,t){this.#t=0,t(this.#e[0]??0,e)}};function de(r){let e=new Uint8Array(r.reduce(" +
  "(n,{length:o})=>n+o,0)),t=0;for(let n of r)e.set(n,t),t+=n.length;return e}function Pr(r,e){let t=[r];for(let " +
  "n=e;n>0||t.length===1;n>>>=7)t.push(n>127?n&127|128:n);return Uint8Array.from(t)}function Bt(r,e,t){if(r[e]!==" +
  "t)throw new v(\"protocol_error\",\"A message without the field that it must have\");let{value:n,end:o}=St(r,e+1);i" +
  "f(n>r.length-o)throw Ut();return{value:r.subarray(o,o+n),end:o+n}}function*Re(r){for(let e=0;e<r.length;){let " +
  "t=r[e]??0,{value:n,end:o}=(t&7)===0?St(r,e+1):Bt(r,e,t&-8|2);yield{field:t>>3,value:n},e=o}}function St(r,e){l" +
  "et t=0;for(let[n,o]=[1,e];o<r.length&&n<2**63;n*=128){let i=r[o++]??0;if(t+=(i&127)*n,i<128)return{value:t,end" +
  ":o}}throw Ut()}function Ut(){return new v(\"protocol_error\",\"A field goes beyond the end of its message\")}funct" +
  "ion Mr(r,e,t){new DataView(r.buffer,r.byteOffset).setUint32(e,t)}var Tr=new Uint8Array(0);function k(r,e,t,n=T" +
  "r){let o=new Uint8Array(E+n.length);return o.set(n,me(o,0,{length:n.length,type:r,flags:e,streamId:t})),o}func" +
  "tion kt(r,e,t){let n=new Uint8Array(e.length+Math.ceil(e.length/t)*E);for(let[o,i]=[0,0];o<e.length;){let s=e." +
  "subarray(o,o+t),l=me(n,i,{length:s.length,type:h.data,flags:0,streamId:r});n.set(s,l),[o,i]=[o+s.length,l+s.le" +
  "ngth]}return n}function _t(r){let e=new Uint8Array(r.length*F);for(let[t,[n,o]]of r.entries())e[t*F+1]=n,re(e," +
  "t*F+2,o);return k(h.settings,0,0,e)}function ce(r){let e=new Uint8Array(4);return re(e,0,r),e}var S=class exte" +
  "nds Error{name=\"StaticError\";code;retryable;retryAfterMs;epoch;channel;unreachable;members;constructor(e,t,n={" +
  "}){super(G(t),n.cause===void 0?void 0:{cause:n.cause}),this.code=e,this.retryable=n.retryable??Z[e].retryable," +
  "this.retryAfterMs=n.retryAfterMs,this.epoch=n.epoch,this.channel=n.channel,this.unreachable=n.unreachable,this" +
  ".members=n.members}},le=class extends S{name=\"TransportError\"},Oe=class extends le{name=\"UnavailableError\"},He" +
  "=class extends le{name=\"InternalError\"},Le=class extends S{name=\"AuthError\"},be=class extends S{name=\"ChannelE" +
  "rror\"},$e=class extends be{name=\"RemovedError\";by;atMs;constructor(e,t,n={}){super(e,t,n),this.by=n.by,this.at" +
  "Ms=n.atMs}},Ke=class extends S{name=\"QuotaExceededError\"},We=class extends S{name=\"MlsError\"},De=class extends" +
  " S{name=\"InvalidArgumentError\"},Ne=class extends S{name=\"StoreError\"},ze=class extends S{name=\"RemoteError\";re" +
  "moteCode;constructor(e,{remoteCode:t=\"failed\",...n}={}){super(\"remote_error\",e,n),this.remoteCode=t}};function" +
  " B(r){return(e,t,n)=>new r(e,t,n)}var vo={TransportError:B(le),AuthError:B(Le),ChannelError:B(be),QuotaExceede" +
  "dError:B(Ke),MlsError:B(We),InvalidArgumentError:B(De),StoreError:B(Ne),UnavailableError:B(Oe),RemovedError:B(" +
  "$e),RemoteError:(r,e,t)=>new ze(e,t),InternalError:B(He)};function Pt(r,e){return e!==void 0&&N(e)?e:r===429?\"" +
  "rate_limited\":r===503?\"overloaded\":void 0}var Fr=\"static.relay.v1.ErrorDetail\";function Mt(r,e){try{for(let{ty" +
  "pe:t,value:n}of Ct(Rr(r))){let o=t===Fr?Ir(()=>n):void 0;if(o!==void 0)return o}}catch{}return{message:e}}func" +
  "tion Tt(r,e,{message:t,...n}){let o=Pt(r);if(o===void 0)return{message:t};if(n.code!==void 0)return{message:t," +
  "...n};let i=typeof e==\"string\"?Number(e)*1e3:NaN;return{code:o,message:t,...i>=0&&{retryAfterMs:i}}}function I" +
  "r(r){try{let{code:e,message:t,retryAfterMs:n}=Et(r());return N(e)?{code:e,message:t,retryAfterMs:n}:void 0}cat" +
  "ch{return}}function Rr(r){return Uint8Array.from(atob(r),e=>e.charCodeAt(0))}var we=1024*1024,Ft={headerBlockB" +
  "ytes:64*1024,headerBlockFrames:16},Or=1e3,Hr=1500,U=1,qe=\"it was closed by this side\",Lr=new Map([[h.rstStream" +
  ",4],[h.ping,8],[h.windowUpdate,4]]),ve=class{#e;#t;#r=new ne(e=>this.#v(e));#n=new se(Ft.headerBlockBytes);#o=" +
  "new xe;#i=z;#s=z;#d=z;#c=M;#l=0;#a;#u=!1;#f=[];#h=0;#p=!1;#m=!1;#y;#x=()=>{};#C=[];#b=Promise.resolve();#w;clo" +
  "sed;constructor(e,t,n){this.#e=e,this.#t=n,this.closed=new Promise(i=>this.#x=i);let o=new ae().encode([[\"cont" +
  "ent-type\",\"application/grpc\"],[\"te\",\"trailers\"]],[[\":method\",\"POST\"],[\":scheme\",\"https\"],[\":authority\",ge(t)]," +
  "[\":path\",\"/static.relay.v1.Relay/Session\"]]);this.#_(de([Me,_t([[A.enablePush,0],[A.initialWindowSize,we]]),k(" +
  "h.windowUpdate,0,0,ce(we-z)),k(h.headers,g.endHeaders,U,o)]))}receive(e){if(!this.#p)try{this.#r.receive(e)}ca" +
  "tch(t){this.#L(t)}}lost(e=\"the connection was cut off\"){this.#g({message:e}),this.#I()}async read(){for(;this." +
  "#f.length===0;){if(this.#p){this.#F();return}await this.#R()}let e=this.#f;return this.#f=[],this.#h>=we/2&&th" +
  "is.#H(),e.length===1?e[0]:de(e)}write(e,t){if(this.#m)return Promise.reject(new Error(this.#y?.message??qe));l" +
  "et n=this.#P(vt(e,t));return this.#b=n.catch(()=>{}),n}async#P(e){for(let t=0;t<e.length;){if(this.#y!==void 0" +
  ")throw new Error(this.#y.message);let n=Math.min(this.#i,this.#s,e.length-t);if(n<=0){await this.#R();continue" +
  "}this.#i-=n,this.#s-=n;let o=kt(U,e.subarray(t,t+=n),this.#c);await this.#e.write(o).catch(i=>{throw this.lost" +
  "(ee(i)),i})}}close(e){this.#x({message:qe}),e===0?this.#F():this.#I()}#v(e){if(this.#a!==void 0&&e.type!==h.co" +
  "ntinuation)throw K(\"a header block must be continued before any other frame\");let[t,n]=[e.end-e.start,Lr.get(e" +
  ".type)];if(n!==void 0&&n!==t)throw Rt();switch(e.type){case h.data:return this.#B(e);case h.headers:return thi" +
  "s.#S(e);case h.continuation:return this.#U(e);case h.rstStream:if(e.streamId!==U)throw K(\"a stream that was no" +
  "t opened is reset\");return this.#g({message:`the relay reset the stream (${It(e,0)})`});case h.settings:return" +
  " this.#k(e);case h.pushPromise:throw K(\"pushes were declined\");case h.ping:return(e.flags&g.ack)!==0?void 0:th" +
  "is.#_(k(h.ping,g.ack,0,e.bytes.subarray(e.start,e.end)));case h.goaway:return j(e.bytes,e.start)>=U?void 0:thi" +
  "s.#g({message:`the relay does not serve this stream (${It(e,4)})`});case h.windowUpdate:return this.#O(e);defa" +
  "ult:return}}#B(e){if(e.streamId!==U||!this.#u)throw K(\"data that nobody has asked for\");let{start:t,end:n}=pe(" +
  "e,0);if(this.#h+=e.end-e.start,this.#h>we)throw new m(p.flowControlError,\"more than its window\");this.#o.read(" +
  "e.bytes.subarray(t,n),(o,i)=>{if(o!==0)throw new Error(\"compressed cells were not asked for\");this.#f.push(At(" +
  "i).slice())}),(e.flags&g.endStream)!==0&&this.#g({message:\"the relay ended the stream\"}),this.#E()}#S(e){if(e." +
  "streamId!==U)throw K(\"an answer to a stream that was not opened\");let{start:t,end:n}=pe(e,(e.flags&g.priority)" +
  "!==0?5:0),o=(e.flags&g.endStream)!==0;this.#a=new oe({id:U,endStream:o},Ft),this.#A(this.#a,e,{start:t,end:n})" +
  "}#U(e){if(this.#a===void 0||e.streamId!==U)throw K(\"nothing to continue\");this.#A(this.#a,e,e)}#A(e,{bytes:t,f" +
  "lags:n},{start:o,end:i}){if(e.add(t,o,i),(n&g.endHeaders)===0)return;this.#a=void 0;let s=e.join(),{fields:l}=" +
  "this.#n.decode(s,0,s.length),u=new Map(l.map(({name:c,value:f})=>[c,f]));this.#u||this.#M(u),e.endStream&&this" +
  ".#T(u)}#M(e){let t=Number(e.get(\":status\"));if(t>=100&&t<200||(this.#u=!0,t===200))return;let n=`The relay ret" +
  "urned HTTP status ${t} for Session`;this.#g(Tt(t,e.get(\"retry-after\"),{message:n}))}#T(e){let t=$r(e.get(\"grpc" +
  "-message\")||\"the relay ended the stream\"),n=e.get(\"grpc-status\")===\"0\";this.#g(n?{message:\"the relay ended the" +
  " stream\"}:Mt(e.get(\"grpc-status-details-bin\")??\"\",t))}#k(e){if((e.end-e.start)%F!==0)throw Rt();(e.flags&g.ack" +
  ")===0&&(Fe(e,(t,n)=>{t===A.maxFrameSize&&(this.#c=n),t===A.initialWindowSize&&(this.#s+=n-this.#d,this.#d=n)})" +
  ",this.#_(k(h.settings,g.ack,0)),this.#E())}#O(e){let t=j(e.bytes,e.start);if(e.streamId===0?this.#i+=t:this.#s" +
  "+=t,t===0||Math.max(this.#i,this.#s)>te)throw new m(p.flowControlError,\"a window of a size that it cannot have" +
  "\");this.#E()}#H(){let e=ce(this.#h);this.#h=0;let t=[0,U].map(n=>k(h.windowUpdate,0,n,e));this.#_(de(t))}#_(e)" +
  "{if(++this.#l>Or)throw K(\"it reads no answers\");this.#e.write(e).then(()=>this.#l--,()=>{})}#L(e){let t=e inst" +
  "anceof m?e.code:p.protocolError,n=k(h.goaway,0,0,de([ce(0),ce(t)]));this.#e.write(n).catch(()=>{}),this.#m=!0," +
  "this.#g({message:`the relay broke HTTP/2: ${ee(e)}`})}#g(e){this.#p=!0,this.#y??=e,this.#x(this.#y),this.#E()," +
  "this.#F()}#F(){this.#m||(this.#m=!0,this.#b=this.#b.then(()=>this.#e.write(k(h.data,g.endStream,U))).catch(()=" +
  ">{})),this.#w??=this.#t(Hr,()=>this.#I()),this.#p&&this.#b.then(()=>this.#e.end())}#I(){this.#w?.(),this.#w=()" +
  "=>{},this.#m=!0,this.#p=!0,this.#y??={message:qe},this.#E(),this.#e.destroy()}#R(){return new Promise(e=>this." +
  "#C.push(e))}#E(){for(let e of this.#C.splice(0))e()}};function It({bytes:r,start:e},t){return _e(q(r,e+t))}fun" +
  "ction K(r){return new m(p.protocolError,r)}function Rt(){return new m(p.frameSizeError,\"a frame has a length t" +
  "hat its type does not allow\")}function $r(r){try{return decodeURIComponent(r).slice(0,1024)}catch{return r.sli" +
  "ce(0,1024)}}var Dt=require(\"node:crypto\"),Nt=require(\"node:net\"),Ae=require(\"node:tls\");var Lt=require(\"node:b" +
  "uffer\"),$t=require(\"node:http\"),je=require(\"node:https\"),W=require(\"node:net\"),Kt=Ze(require(\"node:process\"));" +
  "function Kr(r,e=Kt.default.env){let t=Ot(e,\"ALL_PROXY\",\"all_proxy\",\"HTTPS_PROXY\",\"https_proxy\"),n=Ot(e,\"NO_PRO" +
  "XY\",\"no_proxy\");if(t===void 0||Dr(r,e[n??\"\"]??\"\"))return;let o=e[t]??\"\",i=o.includes(\"://\")?o:`http://${o}`,s=" +
  "URL.canParse(i)?new URL(i):void 0;if(s?.protocol!==\"http:\"&&s?.protocol!==\"https:\")throw new Error(`${t} is no" +
  " address of an HTTP proxy; write http://host:port`);if(Ht(s.username)&&Ht(s.password))return s;throw new Error" +
  "(`${t} has a \"%\" in its name or password that encodes nothing; write %25 for it`)}function Ot(r,...e){return e" +
  ".find(t=>(Wr(r,t)??\"\")!==\"\")}function Wr(r,e){try{return r[e]}catch{return}}function Ht(r){try{return decodeUR" +
  "IComponent(r),!0}catch{return!1}}function Dr(r,e){return e.split(\",\").map(t=>t.trim().toLowerCase()).some(t=>{" +
  "if(t===\"\")return!1;if(t===\"*\")return!0;if((0,W.isIP)(r)!==0)return Nr(r,t);let n=t.replace(/^\\./,\"\");return r=" +
  "==n||r.endsWith(`.${n}`)})}function Nr(r,e){let[t,n]=(0,W.isIP)(r)===6?[\"ipv6\",128]:[\"ipv4\",32],[o=\"\",i=String" +
  "(n),...s]=e.replace(/^\\[|\\]$/g,\"\").split(\"/\");if(!((0,W.isIP)(o)===(0,W.isIP)(r)&&/^\\d+$/.test(i)&&Number(i)<=" +
  "n&&s.length===0))return!1;let u=new W.BlockList;return u.addSubnet(o,Number(i),t),u.check(r,t)}async function " +
  "Wt(r,e){let t=Kr(r.host);return t&&await zr(r,t,e)}function zr(r,e,t){let n=ge(r),{protocol:o,hostname:i,port:" +
  "s,username:l,password:u}=e,c=decodeURIComponent(l),f=Lt.Buffer.from(`${c}:${decodeURIComponent(u)}`).toString(" +
  "\"base64\");return new Promise((I,R)=>{let D=(y,_)=>R(new Error(`the proxy ${e.host} does not lead to ${n}: ${y}" +
  "`,{cause:_})),O=(o===\"https:\"?je.request:$t.request)({host:i.replace(/^\\[|\\]$/g,\"\"),port:s===\"\"?o===\"https:\"?4" +
  "43:80:Number(s),method:\"CONNECT\",path:n,headers:{host:n,...l!==\"\"&&{\"proxy-authorization\":`Basic ${f}`}},agent" +
  ":!1,...t&&{signal:t}});O.once(\"connect\",({statusCode:y=0},_,Gt)=>{_.on(\"error\",()=>{});let Je=y>=200&&y<300;if" +
  "(Je&&Gt.length===0)return I(_);_.destroy(),D(Je?\"it says more than it was asked\":`HTTP status ${y}`)}),O.once(" +
  "\"response\",({statusCode:y})=>{O.destroy(),D(`HTTP status ${y}`)}),O.on(\"error\",y=>t?.aborted?R(t.reason):D(y.m" +
  "essage,y)),O.end()})}async function zt(r,e,t){return await qr(r,{tunnel:await Wt(r,t),protocol:e,signal:t})}fu" +
  "nction qr({host:r,port:e,trust:t},{tunnel:n,protocol:o,signal:i}){return new Promise((s,l)=>{if(i.aborted)retu" +
  "rn n?.destroy(),l(i.reason);let u=t.certificateHashes.length>0,c=(0,Ae.connect)({host:r,port:e,...n&&{socket:n" +
  "},...(0,Nt.isIP)(r)===0&&{servername:r},ALPNProtocols:[o],minVersion:\"TLSv1.3\",...t.caCerts.length>0&&{ca:[..." +
  "Ae.rootCertificates,...t.caCerts]},rejectUnauthorized:!u}),f=R=>{i.removeEventListener(\"abort\",I),c.destroy()," +
  "l(R)},I=()=>f(i.reason);i.addEventListener(\"abort\",I),c.on(\"error\",f),c.once(\"secureConnect\",()=>{if(u&&!jr(c," +
  "t))return f(new Error(\"the relay's certificate is none of tls.certificateHashes\"));if(c.alpnProtocol!==o)retur" +
  "n f(new Error(`the server does not speak ${o}`));i.removeEventListener(\"abort\",I),s(c)})})}function jr(r,{cert" +
  "ificateHashes:e}){let t=(0,Dt.createHash)(\"sha256\").update(r.getPeerCertificate().raw).digest();return e.some(" +
  "n=>Se(n,t))}var Ee=class{#e=new Map;#t;#r=1/0;#n=0;after(e,t){let n=Math.ceil((performance.now()+e)/250),o={ru" +
  "n:t},i=this.#e.get(n);return i===void 0?this.#e.set(n,new Set([o])):i.add(o),this.#n++,n<this.#r?this.#s(n):th" +
  "is.#n===1&&this.#i(!0),()=>{this.#o(n,o)}}#o(e,t){let n=this.#e.get(e);return n===void 0||!n.delete(t)?!1:(n.s" +
  "ize===0&&this.#e.delete(e),this.#n--,this.#n===0&&this.#i(!1),!0)}#i(e){typeof this.#t==\"object\"&&(e?this.#t.r" +
  "ef():this.#t.unref())}#s(e){clearTimeout(this.#t),this.#r=e;let t=Math.max(0,e*250-performance.now());this.#t=" +
  "setTimeout(()=>this.#d(),Math.min(t,2147483647))}#d(){this.#t=void 0,this.#r=1/0;let e=performance.now(),t=1/0" +
  ";for(let[n,o]of this.#e)if(n*250>e)t=Math.min(t,n);else for(let i of o)queueMicrotask(()=>this.#o(n,i)&&i.run(" +
  "));t<1/0&&this.#s(t)}};function qt(){return Date.now()}var Vr=5e3,Jr=new Ee;function Ce(r,e){if(r>=Vr)return J" +
  "r.after(r,e);let t=setTimeout(e,r);return()=>clearTimeout(t)}function jt(r){return crypto.getRandomValues(new " +
  "Uint8Array(r))}var Vt={transport:\"grpc\",carrier:\"tcp\",unusable:()=>{},connect:async(r,e)=>{let t=await zt(r,\"h" +
  "2\",e);t.setNoDelay(!0);let n=new ve(Gr(t),r,Ce);return t.on(\"data\",o=>n.receive(o)),t.once(\"error\",o=>n.lost(o" +
  ".message)),t.once(\"close\",()=>n.lost()),n}};function Gr(r){return{write:e=>new Promise((t,n)=>{r.write(e,o=>o?" +
  "n(o):t())}),end:()=>{r.end()},destroy:()=>{r.destroy()}}}tt({post:r=>Ve.parentPort?.postMessage(r),listen:r=>{" +
  "Ve.parentPort?.on(\"message\",r)}},{connectors:[Vt],nowMs:qt,after:Ce,randomBytes:jt,exit:()=>Jt.default.exit()}" +
  ");\n";
