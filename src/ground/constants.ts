import { version } from '../../package.json'

/** Version of this package. */
export const VERSION: string = version
/** Slug of the product, for licensing and translation too. */
export const SLUG = 'sessmgr'
/** Text domain of the translatable strings: load your translations under this name. */
export const TEXT_DOMAIN = 'sessmgr'
/** Name of the option that stores every setting. */
export const OPTION_KEY = 'sessmgr_settings'
/** Namespace of every REST route. */
export const REST_NAMESPACE = 'sessmgr/v1'
/** Id of the parent product at the licensing provider. */
export const LICENSING_ID = 1
