export { type DemoVendor, demoVendor, issueDemoLicense, ownDemoVendor } from './demo-vendor.ts'
export { product } from './product.ts'
export { type RoleLimitsOptions, roleLimits } from './role-limits.ts'
