/** Texts about unsaved changes. */
export const SAVE_TEXTS = {
  save: 'Save Changes',
  saving: 'Saving…',
  saved: 'Settings saved.',
  not_saved: 'Not saved. {reason}',
  online_again: 'You are online again.',
  conflict: '{name} changed the settings meanwhile: {changes}.',
  conflict_value: '{name} is now {value}',
  conflict_more: '{count} more',
  somebody: 'Somebody',
  conflict_theirs: 'Load theirs',
  conflict_mine: 'Save mine',
  save_failed: 'The settings could not be saved.',
  save_invalid: 'Nothing was saved because a field is invalid.',
  unsaved: 'You have unsaved changes.',
  limit_change: 'Limit {from} → {to}.',
  show_them: 'Show them',
  maximum_lower: 'Users with more sessions stay signed in. The new limit applies from their next login.',
  maximum_over_one:
    '{count} person has more sessions and stays signed in. If the new limit applies to them, it does so from the next login.',
  maximum_over_other:
    '{count} people have more sessions. They stay signed in. Where the new limit applies to them, it does so from the next login.',
  maximum_over_about_one:
    'About {count} person has more sessions and stays signed in. If the new limit applies to them, it does so from the next login.',
  maximum_over_about_other:
    'About {count} people have more sessions. They stay signed in. Where the new limit applies to them, it does so from the next login.',
  maximum_over_none: 'Nobody has more sessions. The new limit applies from the next login.',
  discard: 'Discard',
  leave_title: 'Leave without saving?',
  leave_text: 'You have unsaved changes on this page.',
  leave_stay: 'Keep editing',
  leave_discard: 'Discard changes',
  leave_save: 'Save and leave',
} as const
