/**
 * Optional extras of the pages: copy buttons, visible passwords, current times, confirmations in a dialog, and a warning when live
 * updates stop.
 */
;(() => {
  const copiedMs = 2_500
  const tickMs = 1_000
  /** The warning that live updates stopped waits for this time, because a restart of the service takes less. */
  const toldAfterMs = 2_000
  const askAgainMs = 5_000

  /** The browser's clock can be wrong, so relative times are computed with the clock of the server. */
  const serverTimeMs = Number(document.querySelector('meta[name="server-time-ms"]')?.getAttribute('content'))
  const clockOffsetMs = Number.isFinite(serverTimeMs) ? serverTimeMs - Date.now() : 0

  const relative = new Intl.RelativeTimeFormat('en')

  /** Uses the same steps as `time-words.ts`, so that a text does not change when this script first updates it. */
  const relativeText = (atMs, nowMs) => {
    const seconds = Math.trunc((atMs - nowMs) / 1_000)
    const distance = Math.abs(seconds)
    if (distance < 1) return 'just now'
    if (distance < 90) return relative.format(seconds, 'second')
    if (distance < 90 * 60) return relative.format(Math.trunc(seconds / 60), 'minute')
    if (distance < 36 * 3_600) return relative.format(Math.trunc(seconds / 3_600), 'hour')
    return relative.format(Math.trunc(seconds / 86_400), 'day')
  }

  const refreshTimes = () => {
    if (document.hidden) return
    const nowMs = Date.now() + clockOffsetMs
    for (const time of document.querySelectorAll('time[data-relative]')) {
      const text = relativeText(Date.parse(time.dateTime), nowMs)
      if (time.textContent !== text) time.textContent = text
    }
  }

  /**
   * Over plain http, browsers offer no `navigator.clipboard`. There, the text is selected and copied with
   * `execCommand`.
   */
  const copyText = async (element) => {
    if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(element.textContent)
    getSelection().selectAllChildren(element)
    if (!document.execCommand('copy')) throw new Error('the browser did not copy')
  }

  const copy = async (button) => {
    const status = button.parentElement.querySelector('[role="status"]')
    const words = button.dataset.words ?? button.textContent
    button.dataset.words = words
    try {
      await copyText(document.querySelector(button.dataset.copy))
      button.textContent = status.textContent = button.dataset.copied
      button.classList.add('copied')
      keepsCopied(button)
    } catch {
      button.textContent = status.textContent = 'Not copied. Select the text.'
    }
    clearTimeout(button.resetTimer)
    button.resetTimer = setTimeout(() => {
      button.textContent = words
      button.classList.remove('copied')
      status.textContent = ''
    }, copiedMs)
  }

  /** The page of a new key is the answer to a form. Loading it again must not send the form, and leaving it loses the key. */
  const once = document.querySelector('[data-address]')
  const keepsCopied = (element) => {
    if (once?.contains(element)) once.dataset.copied = ''
  }
  if (once !== null) history.replaceState(null, '', once.dataset.address)
  document.addEventListener('copy', ({ target }) => keepsCopied(target))
  addEventListener('beforeunload', (event) => {
    if (once !== null && once.dataset.copied === undefined) event.preventDefault()
  })

  /** Shows the `#confirm` of the linked page in a dialog. If anything fails, the browser follows the link. */
  const ask = async (link) => {
    try {
      const answer = await fetch(link.href, { headers: { Accept: 'text/html' } })
      if (!answer.ok || answer.redirected) throw new Error('no such question')
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const question = page.getElementById('confirm')
      if (question === null) throw new Error('the page asks nothing')
      showDialog(question)
    } catch {
      location.assign(link.href)
    }
  }

  const showDialog = (question) => {
    const dialog = document.createElement('dialog')
    dialog.setAttribute('aria-labelledby', 'confirm-title')
    dialog.append(document.importNode(question, true))
    dialog.addEventListener('close', () => dialog.remove())
    document.body.append(dialog)
    dialog.showModal()
    revealButtons()
  }

  const revealButtons = () => {
    for (const button of document.querySelectorAll('button:is([data-copy], [data-shows])[hidden]'))
      button.hidden = false
  }

  const showPassword = (button, isShown) => {
    document.querySelector(button.dataset.shows).type = isShown ? 'text' : 'password'
    button.firstElementChild.textContent = isShown ? 'Hide' : 'Show'
  }

  const liveState = document.getElementById('live-state')
  let lostTimer
  let lostAtMs = null
  /** Empty until the first stream has begun, or has failed. */
  let shownState = ''

  /** `state` is `live`, or the `data-live` of a paragraph in `live-state.tsx`. The mark "Live" of a page follows the body's state. */
  const showLiveState = (state) => {
    clearTimeout(lostTimer)
    if (state === shownState) return
    shownState = document.body.dataset.liveState = state
    if (state === 'live') lostAtMs = null
    else lostAtMs ??= Date.now() + clockOffsetMs
    for (const words of liveState?.children ?? []) {
      if (words.dataset.live === state) fillIn(words, new Date(lostAtMs).toISOString())
      words.hidden = words.dataset.live !== state
    }
  }

  const fillIn = (words, since) => {
    const time = words.querySelector('time')
    time.dateTime = since
    time.textContent = `${since.slice(11, 16)} UTC`
    const next = encodeURIComponent(location.pathname + location.search)
    for (const link of words.querySelectorAll('a')) link.search = `?next=${next}`
  }

  /**
   * Warns after `toldAfterMs` that live updates stopped. Status 429 means that too many pages are open. Without a status,
   * there was no answer.
   */
  const lose = (status) => {
    const nowMs = Date.now() + clockOffsetMs
    lostAtMs ??= nowMs
    clearTimeout(lostTimer)
    lostTimer = setTimeout(showLiveState, lostAtMs + toldAfterMs - nowMs, status === 429 ? 'full' : 'lost')
  }

  const openStream = (element) => {
    if (element.isConnected) htmx.ajax('GET', element.getAttribute('hx-sse:connect'), { source: element })
  }

  /** The htmx extension does not retry a stream that never began, so this function opens the stream again. */
  const loseFirst = (element) => {
    lose()
    setTimeout(openStream, askAgainMs, element)
  }

  const isLive = (element) => element instanceof Element && element.hasAttribute('hx-sse:connect')

  /**
   * The htmx extension closes the stream when the page becomes hidden. A page opened in the background is hidden from
   * the beginning. Without this listener, its stream would hold one of the browser's six connections to this host.
   */
  document.addEventListener('htmx:sse:after:connection', ({ detail }) => {
    if (detail.connection.status === 200) showLiveState('live')
    else lose(detail.connection.status)
    // The dispatch runs in a microtask, because the extension can close the stream only after this event.
    if (document.hidden) queueMicrotask(() => document.dispatchEvent(new Event('visibilitychange')))
  })
  document.addEventListener('htmx:sse:error', ({ detail }) => lose(detail.status))
  document.addEventListener('htmx:sse:close', ({ detail }) => {
    if (detail.reason === 'message') showLiveState('ended')
  })
  document.addEventListener('htmx:error', ({ target, detail }) => {
    if (isLive(target) && detail.ctx !== undefined) loseFirst(target)
  })
  /** A proxy can answer a live stream with an HTML page of its own. That page must not replace a part of this page. */
  document.addEventListener('htmx:before:response', (event) => {
    const type = event.detail.ctx.response.headers.get('Content-Type') ?? ''
    if (!isLive(event.target) || type.startsWith('text/event-stream')) return
    event.preventDefault()
    loseFirst(event.target)
  })

  /**
   * New rows would move the row under the pointer, or the link with the focus. So an update of such a list waits until both have
   * left, and no row is selected. The newest update replaces one that waits, because each message has the whole list.
   */
  const isHeld = (element) => {
    const list = element.querySelector('[data-hold]')
    return list !== null && (list.matches(':hover, :focus-within') || list.querySelector(':checked') !== null)
  }
  document.addEventListener('htmx:sse:before:message', (event) => {
    const { data, event: name } = event.detail.message
    if (name) return
    event.target.heldMessage = undefined
    delete document.body.dataset.held
    if (data === '' || !isHeld(event.target)) return
    event.preventDefault()
    event.target.heldMessage = data
    document.body.dataset.held = ''
  })
  const showHeld = () => {
    for (const element of document.querySelectorAll('[hx-sse\\:connect]')) {
      if (element.heldMessage === undefined || isHeld(element)) continue
      const [text, target, swap] = [
        element.heldMessage,
        element.getAttribute('hx-target'),
        element.getAttribute('hx-swap'),
      ]
      element.heldMessage = undefined
      delete document.body.dataset.held
      htmx.swap({ text, target, swap, sourceElement: element })
    }
  }

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null
    const copyButton = target?.closest('button[data-copy]')
    if (copyButton) return void copy(copyButton)

    const showButton = target?.closest('button[data-shows]')
    if (showButton)
      return void showPassword(showButton, document.querySelector(showButton.dataset.shows).type === 'password')

    const plainClick = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    const question = target?.closest('a[data-dialog]')
    if (question && plainClick) {
      event.preventDefault()
      return void ask(question)
    }
    const dialog = target?.closest('[data-dialog-close]')?.closest('dialog')
    if (dialog) {
      event.preventDefault()
      dialog.close()
    }
  })

  /** The key `/` leads to the search box of the page, as on many sites. In a field or a dialog, it is a letter. */
  document.addEventListener('keydown', (event) => {
    const box = document.querySelector('input[aria-keyshortcuts="/"]')
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || box === null) return
    if (event.target.closest('input, textarea, select, dialog') !== null) return
    event.preventDefault()
    box.focus()
    box.select()
  })

  document.addEventListener('input', (event) => {
    const chosen = event.target instanceof HTMLElement ? event.target.dataset.chooses : undefined
    if (chosen !== undefined) document.querySelector(chosen).checked = true
    // Some boxes ask as one types.
    if (event.target.matches('form[data-asks] input')) cutSecrets(event.target)
  })

  /**
   * Cuts off the secrets of pasted keys before a question leaves the browser, because browsers and proxies keep addresses. The
   * expression is that of `text.ts`.
   */
  const cutSecrets = (input) => {
    const cut = input.value.replace(/(clr_[0-9A-Za-z]{8})_[0-9A-Za-z]{16,}|(\/link\/)[0-9A-Za-z]{43}/g, '$1$2')
    if (cut !== input.value) input.value = cut
  }
  document.addEventListener('submit', ({ target: form }) => {
    if (form.dataset.asks !== undefined) {
      form.method = 'get'
      form.elements._csrf.disabled = true
    }
    if (form.method !== 'get') return
    for (const input of form.querySelectorAll('input')) cutSecrets(input)
  })

  /** `data-picks` selects all rows of its form. */
  document.addEventListener('change', ({ target }) => {
    const { form } = target
    if (target.type !== 'checkbox' || !form?.classList.contains('key-rows')) return
    const rows = [...form.querySelectorAll('input[name="key"]')]
    const all = form.querySelector('[data-picks]')
    if (target === all) for (const row of rows) row.checked = all.checked
    const picked = rows.filter((row) => row.checked).length
    all.checked = picked === rows.length
    all.indeterminate = picked > 0 && picked < rows.length
    const isAll = form.querySelector('input[name="all"]')?.checked
    form.querySelector('.picked').textContent = isAll || picked === 0 ? '' : `${picked} selected`
  })

  /** Browsers remember the texts of visible fields, but no passwords. */
  document.addEventListener('submit', ({ target: form }) => {
    for (const button of form.querySelectorAll('button[data-shows]')) showPassword(button, false)
  })

  /** The sign-in page that keeps a form is itself the answer to a form. Back from the next page must not send that again. */
  document.addEventListener('submit', ({ target: form }) => {
    if (form.matches(':has([name="kept"]), [data-goes-on]')) history.replaceState(null, '', '/sign-in')
  })

  /** Makes a double click send a form only once. The server checks this too. */
  document.addEventListener('submit', (event) => {
    if (event.target.method !== 'post' || event.target.dataset.download !== undefined) return
    if (event.target.dataset.sent !== undefined) event.preventDefault()
    event.target.dataset.sent = ''
  })
  addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
  })

  document.addEventListener('htmx:after:swap', refreshTimes)
  const isTyped = (element) => element.matches?.('form[data-asks] input')
  /** Another page than the list, like the sign-in or an error, is shown as a page. */
  document.addEventListener('htmx:before:response', (event) => {
    const { ok, url } = event.detail.ctx.response.raw
    if (!isTyped(event.target) || (ok && new URL(url).pathname === new URL(event.target.form.action).pathname)) return
    event.preventDefault()
    event.target.form.requestSubmit()
  })
  /** What was found as one typed has an address, like every list. */
  document.addEventListener('htmx:after:swap', ({ target, detail }) => {
    if (isTyped(target)) history.replaceState(null, '', detail.ctx.response.raw.url)
  })
  document.addEventListener('visibilitychange', refreshTimes)
  setInterval(() => {
    refreshTimes()
    showHeld()
  }, tickMs)
  revealButtons()
  document.querySelector('form[data-goes-on="now"]')?.requestSubmit()
})()
