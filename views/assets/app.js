/**
 * What the pages gain from a script of ours: copy buttons, times that stay current, a question in a dialog instead of on
 * a page of its own. All of it is optional, and nothing here knows what a key is.
 */
;(() => {
  const copiedMs = 2_500
  const tickMs = 1_000

  /** A browser's clock may be wrong; the page says what the server's was. */
  const serverTimeMs = Number(document.querySelector('meta[name="server-time-ms"]')?.getAttribute('content'))
  const clockOffsetMs = Number.isFinite(serverTimeMs) ? serverTimeMs - Date.now() : 0

  const relative = new Intl.RelativeTimeFormat('en')

  /** The same steps as in `time-words.ts`. */
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

  /** Plain http from elsewhere has no clipboard object; there the old way still copies what is selected. */
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
    } catch {
      button.textContent = status.textContent = 'Select it and copy'
    }
    clearTimeout(button.resetTimer)
    button.resetTimer = setTimeout(() => {
      button.textContent = words
      button.classList.remove('copied')
      status.textContent = ''
    }, copiedMs)
  }

  /** Shows what the link's page asks (`#confirm`) in a dialog; whatever goes wrong, the link is followed instead. */
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
    // The browser has given the focus back to the link by then.
    dialog.addEventListener('close', () => dialog.remove())
    document.body.append(dialog)
    dialog.showModal()
    revealCopyButtons()
  }

  const revealCopyButtons = () => {
    for (const button of document.querySelectorAll('button[data-copy][hidden]')) button.hidden = false
  }

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null
    const copyButton = target?.closest('button[data-copy]')
    if (copyButton) return void copy(copyButton)

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

  document.addEventListener('input', (event) => {
    const chosen = event.target instanceof HTMLElement ? event.target.dataset.chooses : undefined
    if (chosen !== undefined) document.querySelector(chosen).checked = true
  })

  /** A form sent twice by a double click is sent once; the server sees to it too. */
  document.addEventListener('submit', (event) => {
    if (event.target.method !== 'post') return
    if (event.target.dataset.sent !== undefined) event.preventDefault()
    event.target.dataset.sent = ''
  })
  addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
  })

  document.addEventListener('htmx:after:swap', refreshTimes)
  document.addEventListener('visibilitychange', refreshTimes)
  setInterval(refreshTimes, tickMs)
  revealCopyButtons()
})()
