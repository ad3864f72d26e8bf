/** The fields of the form for `action` in a page, as a browser would send them. */
export const fieldsOfForm = (page: string, action: string): Readonly<Record<string, string>> => {
  const [form = ''] = (page.split('<form ').find((html) => html.includes(`action="${action}"`)) ?? '').split('</form>')
  const fields: Record<string, string> = {}
  for (const [tag] of form.matchAll(/<input(?: [\w-]+(?:="[^"]*")?)*/g)) {
    const isLeftOut = tag.includes('type="radio"') && !tag.includes(' checked')
    if (!isLeftOut) fields[attributeIn(tag, 'name')] = attributeIn(tag, 'value')
  }
  for (const [, name = '', text = ''] of form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n([^<]*)</g)) {
    fields[name] = decoded(text).replace(/\r?\n/g, '\r\n')
  }
  return fields
}

export const attributeIn = (tag: string, name: string): string =>
  decoded(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '')

const decoded = (html: string): string => html.replaceAll('&#34;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
