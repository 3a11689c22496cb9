/** The console's icon: cells of one size, one of them real. */
export const text =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14213d"/>
<g fill="#8da2c4"><rect x="6" y="6" width="8" height="8" rx="2"/><rect x="18" y="6" width="8" height="8" rx="2"/>
<rect x="6" y="18" width="8" height="8" rx="2"/></g><rect x="18" y="18" width="8" height="8" rx="2" fill="#2dd4a7"/></svg>
`;
