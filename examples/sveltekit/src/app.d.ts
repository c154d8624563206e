declare global {
  var sessionLimiter: import('sessmgr').Sessmgr | undefined
  namespace App {
    interface Locals {
      userId?: string
    }
  }
}

export {}
