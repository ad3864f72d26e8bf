import type { Shell } from '../../../views/types.ts'

/**
 * A cookie carries only the name of the text to the next page. So somebody who can set the cookie cannot choose the words
 * there.
 */
const ofSuccess = {
  cellar_created: 'Cellar created. Next: create an API key for your devices.',
  cellar_renamed: 'Title saved.',
  policy_changed: 'Rules saved.',
  unit_set: 'Unit saved.',
  unit_removed: 'Unit removed.',
  retention_changed: 'Retention saved.',
  key_changed: 'Changes saved and in force.',
  key_suspended: 'Key suspended. Every node refuses readings with this key until you resume it.',
  key_resumed: 'Key resumed. Its readings are accepted again.',
  key_revoked: 'Key revoked. Every node refuses readings with this key now.',
  key_retired: 'Old key retired. Every node refuses readings with it now. Below, you can let it work again.',
  key_kept: 'The old key has a later end now.',
  line_rests: 'Put to rest. It is listed below, under “At rest”.',
  rest_ended: 'The rest has ended.',
  webhook_changed: 'Webhook saved.',
  webhook_removed: 'Webhook removed.',
  test_delivered: 'The test was delivered.',
  silence_set: 'Saved. It applies within a minute.',
  operator_removed: 'Operator removed. Their sessions and one-time links no longer work.',
  invitation_withdrawn: 'Invitation withdrawn. Its one-time links no longer work.',
  role_changed: 'Role changed and in force.',
  gave_up_access: 'You removed your own access. To sign in again, ask an admin for a one-time link.',
  password_changed: 'Password changed. All your other sessions have ended.',
  session_was_ended: 'Session ended.',
  other_sessions_ended: 'All your other sessions have ended.',
  sessions_ended: 'Sessions ended. The operator must sign in again.',
  signed_out: 'You are signed out.',
} as const

/** Not green: nothing was done, or the reader must do something. */
const others = {
  no_key_chosen: 'You chose no key, so nothing was changed.',
  keys_may_lack:
    'Nothing was changed. The latest requests are still being counted, so this list can lack keys. Try again soon, or choose the keys one by one.',
  too_many_keys_chosen:
    'At most 10,000 keys can be changed at once on a page. Narrow the list down, or use the command line.',
  change_goes_on:
    'This change of yours still goes on, so the new one was not begun. Send it again when this one has ended.',
  new_keys_wait: 'The new rotation was not begun. First download the new keys of this one, then send it again.',
  nothing_typed: 'You changed no field, so nothing was saved.',
  first_key_not_created:
    'Cellar created. Its first key was not created, or not confirmed, so it cannot be shown. Create another key. If the list shows one that you never saw, revoke it.',
  key_was_shown:
    'The text of this key was shown once, and cannot be shown again. If you did not save it, create another key, or rotate the old one again, and revoke this one.',
  key_resumed_expired: 'Key resumed, but it has expired. Set a later expiry to use the key again.',
  key_was_suspended: 'This key was already suspended. Nothing was changed.',
  key_not_suspended: 'This key is not suspended. Nothing was changed.',
  key_was_revoked: 'This key was already revoked. Nothing was changed.',
  key_was_superseded: 'This key was already rotated, and the new key is in use. Rotate the new key instead.',
  key_was_retired: 'This key had already stopped. Nothing was changed.',
  new_key_not_used:
    'The new key was not used yet. Its first reading decides when this key stops, so nothing was changed.',
  key_has_no_end: 'This key has no expiry, so it works until you retire it. Nothing was changed.',
  role_was_set: 'This operator already has this role. Nothing was changed.',
  key_was_expired: 'This key has expired. Set a later expiry first, then rotate the key.',
  link_by_other:
    'In the last 30 days, somebody else created or used a one-time link for your account. The sign-in history of your account shows who and when.',
  form_is_kept: 'Your session has ended, so your form was not sent. Sign in again, and the form opens as you left it.',
  form_not_sent: 'Your session had ended, so this form was not sent. Check the fields, then send it.',
  form_of_another:
    'The form that was open before belonged to another operator. It was not sent, and its fields are gone.',
  webhook_was_made: 'This webhook was made already. Nothing was changed.',
  test_not_delivered: 'The test was not delivered. The list of deliveries says why.',
  was_not_at_rest: 'This was not at rest. Nothing was changed.',
  line_is_gone: 'This no longer needs attention, so nothing was put to rest.',
  session_ended: 'Your session has ended. Nothing was changed. Sign in again.',
} as const

const notices = { ...ofSuccess, ...others }

export type NoticeName = keyof typeof notices

export const noticeNamed = (name: string | null): NoticeName | null => (name !== null && isNotice(name) ? name : null)

export const shownNotice = (name: NoticeName | null): Shell['notice'] =>
  name === null ? null : { words: notices[name], isSuccess: Object.hasOwn(ofSuccess, name) }

const isNotice = (name: string): name is NoticeName => Object.hasOwn(notices, name)

/** Enough for the redirect to the next page. */
export const noticeMs = 60_000
