/**
 * All English texts outside the admin screen. `{name}` is a placeholder; `_one` and `_other` are the singular and the
 * plural.
 */
export const ENGLISH = {
  // The language of the texts
  lang: 'en',
  dir: 'ltr',

  // Signing in
  login_blocked:
    "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",

  // To a user who was signed out. {ago} is the time since then, as in "9 minutes ago", and {time} is when, in UTC.
  notice_title: 'You were signed out on this device.',
  notice_title_all: 'Everybody was signed out.',
  notice_title_over: 'Please sign in again.',
  notice_displaced: '{ago}, this account signed in on {device}.',
  notice_displaced_unknown: '{ago}, this account signed in somewhere else.',
  notice_chosen: '{ago}, this session was chosen to make room for {device}.',
  notice_chosen_unknown: '{ago}, this session was chosen to make room for another device.',
  notice_idle: '{ago}, {device} needed the place of this session, which had not been used for a while.',
  notice_idle_unknown: '{ago}, another device needed the place of this session, which had not been used for a while.',
  notice_user: 'You did that {ago} on {device}.',
  notice_user_unknown: 'You did that {ago} on another device.',
  notice_admin: 'An administrator did that {ago}.',
  notice_at: 'That happened {ago}.',
  notice_over: 'Your session is over.',
  notice_advice: 'If that was not you, change your password now.',

  // Shown in place of the comments
  comments_button: 'Load Comments',
  comments_loaded_one: '{count} comment loaded',
  comments_loaded_other: '{count} comments loaded',
  comments_lost: 'This comment no longer exists.',
  comments_failed: 'Comments could not be loaded.',
  comments_retry: 'Try again',
  comments_print: 'Comments: {url}',

  // The admin screen and its sign-in and error pages
  product_name: 'Session Manager',
  page_sign_in: 'Sign in first.',
  page_no_script: 'This page needs JavaScript',
  page_no_script_help: 'Turn on JavaScript in your browser and reload the page.',
  page_forbidden: 'You cannot open this page',
  page_forbidden_help:
    'Your account is not allowed to manage this site. Ask an administrator, or sign in with another account.',
  page_forbidden_sign_in: 'Sign in with another account',
  logic_logout_oldest: 'Logout Oldest',
  logic_logout_oldest_desc: 'The new login succeeds, and the oldest sessions end to make room.',
  logic_allow: 'Logout All',
  logic_allow_desc: "The new login succeeds, and all the user's other sessions end.",
  logic_block: 'Block New',
  logic_block_desc: 'The new login is refused until one of the existing sessions ends.',

  // REST responses
  rest_sign_in: 'Sign in first.',
  rest_forbidden: 'Your account is not allowed to do this.',
  rest_not_set_up: 'The admin routes are not set up.',
  rest_nonce: 'The nonce is invalid or has expired. Reload the page.',
  rest_no_nonce:
    'You are signed in, but the nonce is missing. Send the header {header} with the value of limiter.nonce(request).',
  rest_cross_origin: 'This request comes from another website.',
  rest_attempts: 'Too many attempts. Try again later.',
  rest_credentials: 'The user name or application password is wrong.',
  rest_no_route: 'This route does not exist.',
  rest_no_option: 'This option does not exist.',
  rest_no_file: 'This file does not exist.',
  rest_method: 'This route does not support this method.',
  rest_params_unchanged: 'Invalid parameter(s): {names}. Nothing was changed.',
  rest_params: 'Invalid parameter(s): {names}.',
  rest_media_type: 'Send JSON, with Content-Type: application/json.',
  rest_too_large: 'The body is larger than {count} bytes.',
  rest_bad_json: 'The body is not valid JSON, or has a duplicate key.',
  rest_no_utf8: 'The body is not valid UTF-8.',
  rest_no_end: 'The body is incomplete.',
  rest_no_object: 'The body must be a JSON object.',
  rest_fault: 'Something went wrong on the server.',
  rest_slow_comments: 'Loading the comments took too long. Try again.',
  rest_cache_empty: 'The comments cache has been cleared.',
  rest_changed_meanwhile:
    'The settings have changed since you read them, and nothing was saved. Read them again, then save.',
  rest_name_user: 'Name a user with user (an id, an email address or a login name), or with id, login or email.',
  rest_two_users: "This is one user's login name and another user's id. Use login or id instead. Nothing was changed.",
  rest_no_user: 'This user does not exist.',
  rest_no_session: 'This user has no session with this token.',
  rest_store_unavailable: 'The server cannot reach its store. Try again.',
  rest_login_conflict: 'The sessions of this user are changing too often. Try again.',
  rest_hook_timeout: 'An add-on took too long. Try again.',
  rest_license_invalid: 'This licence key is not valid.',
  rest_license_expired: 'This licence has expired.',
  rest_license_quota_reached: 'This licence is already active on the maximum number of sites.',
  rest_license_already_active: 'This licence is already active on this site.',
  rest_license_revoked: 'This licence has been revoked.',
  rest_license_wrong_product: 'This licence is for another product.',
  rest_license_site_mismatch: 'This licence is for another site.',
  rest_license_missing: 'The licensing provider has no such licence.',
  rest_provider_unavailable: 'The licensing provider is not responding. Try again later.',
  rest_provider_rejected: 'The licensing provider refused the request.',
  rest_provider_bad_response: 'The licensing provider sent an invalid response.',
  rest_addon_not_found: 'This add-on does not exist.',
  rest_addon_not_initialized: 'This add-on is not installed on this site.',
  rest_empty_activation_key: 'Enter a licence key.',
  rest_invalid_activation_data: 'No licence for this add-on is active on this site.',
  rest_not_premium: 'This add-on needs no licence.',
} as const satisfies Record<string, string>
