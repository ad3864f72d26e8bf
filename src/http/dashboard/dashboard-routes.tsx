import { html } from '@elysiajs/html'
import { Elysia } from 'elysia'
import { keyFieldNames, paths } from '../../../views/paths.ts'
import { refuseTwoHosts } from '../host-header.ts'
import { loadAssets, showAsset } from './assets.ts'
import { type Door, doorOf } from './door/door.tsx'
import { OperatorTurns } from './door/operator-turns.ts'
import { SignInThrottle } from './door/sign-in-throttle.ts'
import { askedByForm } from './forms/asked-by-form.ts'
import { ChangeRuns } from './forms/change-runs.ts'
import {
  live,
  liveAllKeys,
  liveAttention,
  liveCellars,
  liveFirstReading,
  liveHealth,
  liveKeg,
  liveKey,
  liveKeys,
  liveKeysChange,
  liveLog,
  liveRack,
  liveReadings,
} from './live/live-page-kinds.tsx'
import { seeOther } from './page-answers.tsx'
import { changePassword, endOwnSessions, showAccount } from './pages/account-pages.tsx'
import { rest, showAttention, showRest } from './pages/attention/attention-pages.tsx'
import { showPast } from './pages/attention/past-pages.tsx'
import { setSilence, showSilence } from './pages/attention/silence-pages.tsx'
import {
  changeWebhook,
  confirmRemoval,
  leadToWebhook,
  makeWebhook,
  removeWebhook,
  showSecret,
  showWebhook,
  showWebhooks,
  testWebhook,
} from './pages/attention/webhook-pages.tsx'
import { createCellar, leadToReadings, showCellars, showNewCellar, showReadings } from './pages/cellar-pages.tsx'
import { showCellarThen } from './pages/cellar-then-page.tsx'
import { exportList } from './pages/export-download.tsx'
import { programs, showGuide, showProgram } from './pages/guide-pages.tsx'
import { showHealth } from './pages/health-pages.tsx'
import { keep, showKeep } from './pages/keep-pages.tsx'
import { showKeg, showRack } from './pages/keg-pages.tsx'
import { createKey, showAllKeys, showKeys, showNewKey } from './pages/key-list-pages.tsx'
import { confirmKeyAction, doKeyAction, saveEdit, showEdit, showKey } from './pages/key-pages.tsx'
import { changeSeveral, handOutNewKeys, showChangeRun, showKeysChange } from './pages/keys-change-pages.tsx'
import { showLink, spendLink } from './pages/link-pages.tsx'
import { explainRequest, findInLog, showEvent, showLog } from './pages/log-and-event-pages.tsx'
import {
  confirmChange,
  confirmRole,
  endSessions,
  issueLink,
  removeOperator,
  setRole,
  showOperators,
} from './pages/operator-pages.tsx'
import { rotate, showRotate } from './pages/rotate-pages.tsx'
import {
  changePolicy,
  changeRetention,
  rename,
  reopenPolicy,
  reopenTitle,
  showRetentionConfirmation,
  showSettings,
} from './pages/settings-pages.tsx'
import { showSignIn, signIn, signOut } from './pages/sign-in-pages.tsx'
import { setUnit, showUnit } from './pages/unit-pages.tsx'
import { RecentReadings } from './show/listed-readings.ts'
import type { DashboardDeps, Visit } from './visit.ts'

/**
 * Pages that are made at once. A browser asks for at most six over HTTP/1.1. Each delays those of other operators by a
 * piece of work in each turn of the event loop.
 */
export const pageTurnBounds = {
  runningMax: 64,
  runningPerOperatorMax: 4,
  waitingMax: 512,
  waitingPerOperatorMax: 32,
} as const

export type DashboardParts = Omit<DashboardDeps, 'assets' | 'changes' | 'recentReadings' | 'throttle' | 'turns'>

export const dashboardRoutes = (parts: DashboardParts, notForPages: (request: Request) => Promise<Response> | null) => {
  const assets = loadAssets()
  const door = doorOf({
    ...parts,
    assets: assets.urls,
    changes: new ChangeRuns(parts.core, parts.lines, { onEnd: () => parts.live.nudge() }),
    recentReadings: new RecentReadings(),
    throttle: new SignInThrottle(),
    turns: new OperatorTurns(pageTurnBounds),
  })
  const app = new Elysia({ name: 'dashboard', strictPath: true })
    .use(asHtml())
    .onBeforeHandle(refuseTwoHosts)
    .use(cellarPages(door))
    .use(keyPages(door))
    .use(logPages(door))
    .use(operatorPages(door))
    .use(liveStreams(door))
    .use(attentionPages(door))
    .get(paths.health, door.operator(showHealth))
    .get(paths.devicesGuide, door.operator(showGuide()))
  for (const name of programs) app.get(paths.deviceProgram(name), door.operator(showProgram(name)))
  for (const asset of assets.all) app.get(`/assets/${asset.name}`, door.visitor(showAsset(asset)))

  const methods = Map.groupBy(app.routes, ({ path }) => path)
  for (const [path, routes] of methods)
    app.all(path, door.nobody(routes.flatMap(({ method }) => allowedBy(method))), unread)
  const noPage = door.nobody([])
  return app.all('/*', (context) => notForPages(context.request) ?? noPage(context), unread)
}

/** Guessing would take other answers that begin with `<` for pages. */
const asHtml = () => html({ autoDetect: false, autoDoctype: false, contentType: 'text/html; charset=utf-8' })

/** The door reads forms itself, after its first checks. `guard` takes this option only with a function. */
const unread = { parse: 'none' } as const

const cellarPages = ({ operator, admin }: Door) =>
  new Elysia().use(asHtml()).guard(unread, (pages) =>
    pages
      .get('/', operator(leadToCellars))
      .get(paths.cellars, operator(showCellars))
      .post(paths.cellars, admin(createCellar, showNewCellar))
      .get(paths.findCellars, operator(showCellars))
      .post(paths.findCellars, operator(askedByForm('find')))
      .get(paths.newCellar, admin(showNewCellar))
      .get('/cellars/:cellar', operator(leadToReadings))
      .get('/cellars/:cellar/readings', operator(showReadings))
      .post('/cellars/:cellar/readings', operator(askedByForm('find')))
      .get('/cellars/:cellar/kegs/:rack/:keg', operator(showKeg))
      .post(
        '/cellars/:cellar/kegs/:rack/:keg',
        operator(askedByForm('range', 'from', 'to', 'with', 'scale', 'live', 'find')),
      )
      .get('/cellars/:cellar/racks/:rack', operator(showRack))
      .post('/cellars/:cellar/racks/:rack', operator(askedByForm('range', 'from', 'to', 'live')))
      .get('/cellars/:cellar/then', operator(showCellarThen))
      .get('/cellars/:cellar/settings', operator(showSettings))
      .post('/cellars/:cellar/title', admin(rename, reopenTitle))
      .post('/cellars/:cellar/policy', admin(changePolicy, reopenPolicy))
      .get('/cellars/:cellar/unit', admin(showUnit))
      .post('/cellars/:cellar/unit', admin(setUnit, showUnit))
      .get('/cellars/:cellar/silence', admin(showSilence))
      .post('/cellars/:cellar/silence', admin(setSilence, showSilence))
      .get('/cellars/:cellar/retention', admin(showRetentionConfirmation))
      .post('/cellars/:cellar/retention', admin(changeRetention, showRetentionConfirmation)),
  )

const keyPages = ({ operator, admin }: Door) =>
  new Elysia().use(asHtml()).guard(unread, (pages) =>
    pages
      .get('/cellars/:cellar/keys', operator(showKeys))
      .post('/cellars/:cellar/keys', operator(askedByForm(...keyFieldNames)))
      .get('/cellars/:cellar/keys/new', admin(showNewKey))
      .post('/cellars/:cellar/keys/new', admin(createKey, showNewKey))
      .get(paths.allKeys(), operator(showAllKeys))
      .post(paths.allKeys(), operator(askedByForm(...keyFieldNames)))
      .get(paths.changeKeys, admin(showKeysChange))
      .post(paths.changeKeys, admin(changeSeveral, showKeysChange))
      .get('/keys/changes/:id', operator(showChangeRun))
      .post('/keys/changes/:id', admin(handOutNewKeys))
      .get('/keys/:keyId', operator(showKey))
      .get('/keys/:keyId/edit', admin(showEdit))
      .post('/keys/:keyId/edit', admin(saveEdit, showEdit))
      .get('/keys/:keyId/rotate', admin(showRotate))
      .post('/keys/:keyId/rotate', admin(rotate, showRotate))
      .get('/keys/:keyId/retire', admin(confirmKeyAction('retire')))
      .post('/keys/:keyId/retire', admin(doKeyAction('retire'), confirmKeyAction('retire')))
      .get('/keys/:keyId/keep', admin(showKeep))
      .post('/keys/:keyId/keep', admin(keep, showKeep))
      .get('/keys/:keyId/suspend', admin(confirmKeyAction('suspend')))
      .post('/keys/:keyId/suspend', admin(doKeyAction('suspend'), confirmKeyAction('suspend')))
      .get('/keys/:keyId/resume', admin(confirmKeyAction('resume')))
      .post('/keys/:keyId/resume', admin(doKeyAction('resume'), confirmKeyAction('resume')))
      .get('/keys/:keyId/revoke', admin(confirmKeyAction('revoke')))
      .post('/keys/:keyId/revoke', admin(doKeyAction('revoke'), confirmKeyAction('revoke'))),
  )

const logPages = ({ operator }: Door) =>
  new Elysia().use(asHtml()).guard(unread, (pages) =>
    pages
      .get(paths.log(), operator(showLog))
      .post(paths.log(), operator(askedByForm('kind', 'cellar', 'key', 'actor', 'from', 'to', 'type')))
      .get(paths.findInLog, operator(findInLog))
      .post(paths.findInLog, operator(askedByForm('what')))
      .get('/log/requests/:requestId', operator(explainRequest))
      .get('/log/:stream/:revision', operator(showEvent))
      .post(paths.exports, operator(exportList)),
  )

const attentionPages = ({ operator, admin }: Door) =>
  new Elysia()
    .use(asHtml())
    .guard(unread, (pages) =>
      pages
        .get(paths.attention, operator(showAttention))
        .get('/attention/past', operator(showPast))
        .get(paths.webhooks, operator(showWebhooks))
        .post(paths.webhooks, admin(makeWebhook, showWebhooks))
        .get('/attention/webhooks/:webhookId', operator(showWebhook))
        .post('/attention/webhooks/:webhookId', admin(changeWebhook, showWebhook))
        .get('/attention/webhooks/:webhookId/secret', admin(leadToWebhook))
        .post('/attention/webhooks/:webhookId/secret', admin(showSecret))
        .post('/attention/webhooks/:webhookId/test', admin(testWebhook))
        .get('/attention/webhooks/:webhookId/remove', admin(confirmRemoval))
        .post('/attention/webhooks/:webhookId/remove', admin(removeWebhook, confirmRemoval))
        .get('/attention/rest', admin(showRest))
        .post('/attention/rest', admin(rest, showRest)),
    )

const operatorPages = ({ visitor, operator, admin }: Door) =>
  new Elysia().use(asHtml()).guard(unread, (pages) =>
    pages
      .get(paths.account, operator(showAccount))
      .post(paths.accountPassword, operator(changePassword))
      .post(paths.accountSessions, operator(endOwnSessions))
      .get(paths.operators, operator(showOperators))
      .post(paths.operatorLinks, admin(issueLink, showOperators))
      .get('/operators/:email/role', admin(confirmRole))
      .post('/operators/:email/role', admin(setRole, confirmRole))
      .get('/operators/:email/remove', admin(confirmChange('remove')))
      .post('/operators/:email/remove', admin(removeOperator, confirmChange('remove')))
      .get('/operators/:email/sessions', admin(confirmChange('end_sessions')))
      .post('/operators/:email/sessions', admin(endSessions, confirmChange('end_sessions')))
      .get(paths.signIn, visitor(showSignIn))
      .post(paths.signIn, visitor(signIn))
      .post(paths.signOut, operator(signOut))
      .get('/link/:secret', visitor(showLink))
      .post('/link/:secret', visitor(spendLink)),
  )

const liveStreams = ({ operator }: Door) =>
  new Elysia().use(asHtml()).guard(unread, (pages) =>
    pages
      .get('/live/attention', operator(live(liveAttention)))
      .get(paths.liveHealth, operator(live(liveHealth)))
      .get('/live/cellars', operator(live(liveCellars)))
      .get('/live/cellars/:cellar/readings', operator(live(liveReadings)))
      .get('/live/cellars/:cellar/kegs/:rack/:keg', operator(live(liveKeg)))
      .get('/live/cellars/:cellar/racks/:rack', operator(live(liveRack)))
      .get('/live/cellars/:cellar/keys', operator(live(liveKeys)))
      .get(paths.liveAllKeys(), operator(live(liveAllKeys)))
      .get('/live/log', operator(live(liveLog)))
      .get('/live/keys/changes/:id', operator(live(liveKeysChange)))
      .get('/live/keys/:keyId', operator(live(liveKey)))
      .get('/live/keys/:keyId/first-reading', operator(live(liveFirstReading))),
  )

const leadToCellars = (_: unknown, visit: Visit): Response => seeOther(visit, paths.cellars)

const allowedBy = (method: string): readonly string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method])
