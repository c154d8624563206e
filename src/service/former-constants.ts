// The constants that the main entry point still exports for applications older than `sessmgr/constants`.
import * as constants from '../ground/constants.ts'

/** @deprecated Import it from `sessmgr/constants`. */
export const LICENSING_ID = constants.LICENSING_ID
/** @deprecated Import it from `sessmgr/constants`. */
export const OPTION_KEY = constants.OPTION_KEY
/** @deprecated Import it from `sessmgr/constants`. */
export const REST_NAMESPACE = constants.REST_NAMESPACE
/** @deprecated Import it from `sessmgr/constants`. */
export const SLUG = constants.SLUG
/** @deprecated Import it from `sessmgr/constants`. */
export const TEXT_DOMAIN = constants.TEXT_DOMAIN
/** @deprecated Import it from `sessmgr/constants`. */
export const VERSION = constants.VERSION
