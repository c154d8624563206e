export { type DemoVendor, demoVendor } from './demo-vendor.ts'
export { product } from './product.ts'
export { type RoleLimitsOptions, roleLimits } from './role-limits.ts'
