/**
 * What was just done, said once on the page that a form leads to. The cookie that carries it there holds one of these
 * words and never a text, so that nobody can put a sentence of theirs on a page of ours.
 */
const notices = {
  cellar_created: 'The cellar is there. Next: create a key for whatever sends to it.',
  cellar_renamed: 'The title is saved.',
  policy_changed: 'The bounds are saved.',
  retention_changed: 'The retention is saved.',
  nothing_typed: 'No field was changed, so nothing was saved.',
  key_changed: 'The changes are saved and in force.',
  key_suspended: 'Suspended: no reading of this key is accepted any more until it is resumed.',
  key_resumed: 'Resumed: its readings are accepted again.',
  key_resumed_expired: 'Resumed, but its expiry has passed: give it a later one.',
  key_was_suspended: 'It was suspended before; nothing was added.',
  key_not_suspended: 'It is not suspended; nothing was added.',
  key_was_revoked: 'It was revoked before; nothing was added.',
  key_was_superseded: 'Another key has taken its place, and is in use. Rotate that one.',
  key_was_expired: 'It has expired. Give it a later expiry first, then rotate it.',
  key_revoked: 'Revoked: no reading of this key is accepted any more, on any node.',
  operator_removed: 'Removed: no session and no link of theirs works any more.',
  invitation_withdrawn: 'Withdrawn: no link of theirs works any more.',
  role_changed: 'The role is changed and in force.',
  gave_up_access: 'Your access is taken away, as you asked.',
  password_changed: 'Your password is changed. Every other session of yours has ended.',
  session_was_ended: 'The session has ended.',
  other_sessions_ended: 'Every other session of yours has ended.',
  sessions_ended: 'The sessions have ended. The operator must sign in again.',
  link_by_other:
    'In the last 30 days, somebody else made or used a one-time link to your account. See below who it was, and when.',
  signed_out: 'You are signed out.',
  session_ended: 'Your session has ended. Sign in again; nothing was changed.',
} as const

export type NoticeName = keyof typeof notices

/** What a cookie names, if it is a notice of ours. */
export const noticeNamed = (name: string | null): NoticeName | null => (name !== null && isNotice(name) ? name : null)

export const noticeText = (name: NoticeName | null): string | null => (name === null ? null : notices[name])

const isNotice = (name: string): name is NoticeName => Object.hasOwn(notices, name)

/** Long enough for one redirect. */
export const noticeMs = 60_000
