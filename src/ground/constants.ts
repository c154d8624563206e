import { version } from '../../package.json'

/** Version of this package. */
export const VERSION: string = version
/** Slug of the product, also used for licensing and translation. */
export const SLUG = 'sessmgr'
/** Text domain of the translatable strings: load your translations under this name. */
export const TEXT_DOMAIN = 'sessmgr'
/** Name of the option that stores all settings. */
export const OPTION_KEY = 'sessmgr_settings'
/** Namespace of all REST routes. */
export const REST_NAMESPACE = 'sessmgr/v1'
/** Id of the main product at the licensing provider. */
export const LICENSING_ID = 1
