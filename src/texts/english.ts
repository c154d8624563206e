/**
 * Every sentence outside the admin screen that people read, in English. `{name}` stands for a value; `_one` and
 * `_other` are the forms for a count.
 */
export const ENGLISH = {
  // The language of the texts
  lang: 'en',
  dir: 'ltr',

  // Signing in
  login_blocked:
    "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",

  // In place of the comments
  comments_button: 'Load Comments',
  comments_loaded_one: '{count} comment loaded',
  comments_loaded_other: '{count} comments loaded',
  comments_lost: 'What this link leads to is no longer here.',
  comments_failed: 'Comments could not be loaded.',
  comments_retry: 'Try again',
  comments_print: 'Comments: {url}',

  // The admin screen and the pages around it
  product_name: 'Session Manager',
  page_sign_in: 'Sign in first.',
  page_no_script: 'This page needs JavaScript',
  page_no_script_help: 'Switch JavaScript on in your browser and load the page again.',
  page_forbidden: 'You may not open this page',
  page_forbidden_help:
    'Your account is not allowed to manage this site. Ask an administrator, or sign in with another account.',
  page_forbidden_sign_in: 'Sign in with another account',
  logic_logout_oldest: 'Logout Oldest',
  logic_logout_oldest_desc: 'The new login goes through, and the sessions that began first end to make room.',
  logic_allow: 'Logout All',
  logic_allow_desc: 'The new login goes through, and all earlier sessions of the user end.',
  logic_block: 'Block New',
  logic_block_desc: 'The new login is refused until one of the earlier sessions ends.',

  // REST answers
  rest_sign_in: 'Sign in to do that.',
  rest_forbidden: 'Your account may not do that.',
  rest_not_set_up: 'The admin routes are not set up.',
  rest_nonce: 'The nonce is wrong or too old. Reload the page.',
  rest_no_nonce:
    'You are signed in, but the nonce is missing. Send the header {header} with the value of limiter.nonce(request).',
  rest_cross_origin: 'This request comes from another site.',
  rest_attempts: 'Too many attempts. Wait a while.',
  rest_credentials: 'The user name or application password is wrong.',
  rest_no_route: 'There is no such route.',
  rest_no_option: 'There is no such option.',
  rest_no_file: 'There is no such file.',
  rest_method: 'This route does not know that method.',
  rest_params_unchanged: 'Invalid parameter(s): {names}. Nothing was changed.',
  rest_params: 'Invalid parameter(s): {names}.',
  rest_media_type: 'Send JSON, with Content-Type: application/json.',
  rest_too_large: 'The body is larger than {count} bytes.',
  rest_bad_json: 'The body is not valid JSON, or has a key twice.',
  rest_no_utf8: 'The body is not UTF-8.',
  rest_no_end: 'The body has no end.',
  rest_no_object: 'The body must be a JSON object.',
  rest_fault: 'Something went wrong on the server.',
  rest_slow_comments: 'The comments take too long. Try again.',
  rest_cache_empty: 'The comments cache is empty now.',
  rest_changed_meanwhile:
    'Somebody else has changed the same settings since you read them. Read them again, then save. Nothing was changed.',
  rest_name_user: 'Name a user: by user (an id, an e-mail address or a login name), or by id, login or email.',
  rest_two_users:
    'This is the login name of one user and the id of another. Name the user by login or by id. Nothing was changed.',
  rest_no_user: 'There is no such user.',
  rest_no_session: 'This user has no such session.',
  rest_store_unavailable: 'The server cannot reach its store. Try again.',
  rest_login_conflict: 'The sessions of this user change too often just now. Try again.',
  rest_hook_timeout: 'An add-on takes too long. Try again.',
  rest_license_invalid: 'This licence key is not valid.',
  rest_license_expired: 'This licence has expired.',
  rest_license_quota_reached: 'This licence is in use on as many sites as it allows.',
  rest_license_already_active: 'This licence is active on this site already.',
  rest_license_revoked: 'This licence has been revoked.',
  rest_license_wrong_product: 'This licence is for another product.',
  rest_license_site_mismatch: 'This licence is for another site.',
  rest_license_missing: 'The licensing provider knows no such licence.',
  rest_provider_unavailable: 'The licensing provider does not answer. Try again later.',
  rest_provider_rejected: 'The licensing provider refused the request.',
  rest_provider_bad_response: 'The licensing provider gave an answer that makes no sense.',
  rest_addon_not_found: 'There is no such add-on.',
  rest_addon_not_initialized: 'This add-on is not installed here.',
  rest_empty_activation_key: 'Enter a licence key.',
  rest_invalid_activation_data: 'No licence of this add-on is active on this site.',
  rest_not_premium: 'This add-on needs no licence.',
} as const satisfies Record<string, string>
