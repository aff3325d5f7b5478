// SPDX-License-Identifier: Apache-2.0
// What openapi.yaml says, with references replaced, in the order of its groups.
import { CORE_SCHEMA, load } from 'js-yaml'
import { address, send } from './api'

interface Reference {
  $ref?: string
}

export interface Schema extends Reference {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  default?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
}

export interface Parameter extends Reference {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

export interface Content {
  type: string
  schema: Schema
  example?: unknown
}

interface Body extends Reference {
  description?: string
  content?: Record<string, { schema?: Schema; example?: unknown }>
}

export interface Answer {
  status: string
  description: string
  contents: Content[]
}

interface Method {
  tags: string[]
  operationId: string
  summary: string
  parameters?: Parameter[]
  requestBody?: Body
  responses: Record<string, Body>
  'x-roles': string[]
}

interface File {
  tags: { name: string }[]
  paths: Record<string, Record<string, Method> & { parameters?: Parameter[] }>
  components: Record<string, Record<string, unknown>>
}

export interface Operation {
  id: string
  group: string
  method: string
  path: string
  summary: string
  roles: string[]
  parameters: Parameter[]
  request?: Content
  answers: Answer[]
}

/** A field of a schema, named as it is reached: data[].clientid. */
export interface Field {
  name: string
  type: string
  required: boolean
  text: string
}

const METHODS = ['get', 'post', 'put', 'delete']
const DEEPEST = 5

export class Description {
  readonly operations: Operation[]
  readonly groups: string[]

  constructor(private readonly file: File) {
    this.groups = file.tags.map(tag => tag.name)
    this.operations = Object.entries(file.paths).flatMap(([path, methods]) =>
      METHODS.flatMap(method => (methods[method] ? [this.operation(method, path, methods[method], methods.parameters ?? [])] : [])),
    )
  }

  /** What a reference names, or the object itself. */
  private resolved<T extends Reference>(one: T): T {
    if (!one.$ref) return one
    const [, , kind = '', name = ''] = one.$ref.split('/')
    return this.file.components[kind]![name] as T
  }

  private operation(method: string, path: string, given: Method, shared: Parameter[]): Operation {
    return {
      id: given.operationId,
      group: given.tags[0] ?? '',
      method: method.toUpperCase(),
      path,
      summary: given.summary,
      roles: given['x-roles'],
      parameters: [...shared, ...(given.parameters ?? [])].map(one => this.resolved(one)),
      request: given.requestBody && this.contents(given.requestBody)[0],
      answers: Object.entries(given.responses).map(([status, body]) => ({
        status,
        description: this.resolved(body).description ?? '',
        contents: this.contents(body),
      })),
    }
  }

  private contents(body: Body): Content[] {
    return Object.entries(this.resolved(body).content ?? {}).map(([type, { schema, example }]) => ({ type, schema: schema ?? {}, example }))
  }

  /** The type and the limits of a schema, in words of JSON Schema. */
  typeOf(given: Schema): string {
    const schema = this.resolved(given)
    if (schema.anyOf) return schema.anyOf.map(one => this.typeOf(one)).join(' | ')
    if (schema.enum) return schema.enum.map(String).join(' | ')
    if (schema.items) return `array of ${this.typeOf(schema.items)}`
    const limits = [
      schema.format,
      schema.minimum !== undefined && `≥ ${schema.minimum}`,
      schema.maximum !== undefined && `≤ ${schema.maximum}`,
      schema.maxLength !== undefined && `≤ ${schema.maxLength} characters`,
      schema.pattern,
    ].filter(Boolean)
    const type = [schema.type ?? 'any'].flat().join(' | ')
    return limits.length ? `${type} (${limits.join(', ')})` : type
  }

  /** The text of a schema, with its default. */
  textOf(given: Schema): string {
    const { description, default: value } = this.resolved(given)
    return [given.description ?? description, value !== undefined && `Default: ${String(value)}`].filter(Boolean).join('. ')
  }

  /** The fields of a schema and of what it contains. */
  fields(given: Schema, before = '', depth = 0): Field[] {
    const schema = this.resolved(given)
    if (depth > DEEPEST) return []
    if (schema.items) return this.fields(schema.items, `${before}[]`, depth + 1)
    if (schema.anyOf) return schema.anyOf.flatMap(one => this.fields(one, before, depth + 1))
    return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      const name = before ? `${before}.${key}` : key
      const field = { name, type: this.typeOf(value), required: !!schema.required?.includes(key), text: this.textOf(value) }
      return [field, ...this.fields(value, name, depth + 1)]
    })
  }

  /** A value that a schema allows. */
  sample(given: Schema, depth = 0): unknown {
    const schema = this.resolved(given)
    if (schema.default !== undefined) return schema.default
    if (schema.enum) return schema.enum[0]
    if (schema.anyOf) return this.sample(schema.anyOf[0]!, depth)
    if (schema.items) return depth > DEEPEST ? [] : [this.sample(schema.items, depth + 1)]
    if (schema.properties) {
      return Object.fromEntries(Object.entries(schema.properties).map(([key, value]) => [key, this.sample(value, depth + 1)]))
    }
    switch ([schema.type].flat()[0]) {
      case 'string':
        return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text'
      case 'integer':
      case 'number':
        return schema.minimum ?? 0
      case 'boolean':
        return false
      case 'null':
        return null
      default:
        return {}
    }
  }
}

/** Reads the file that the broker serves. */
export async function readDescription(signal: AbortSignal): Promise<Description> {
  const answer = await send('GET', address('openapi.yaml'), undefined, signal)
  return new Description(load(await answer.text(), { schema: CORE_SCHEMA }) as File)
}

/** An example of a call, for a shell. */
export function curl({ method, path, parameters, request }: Operation, sample: (schema: Schema) => unknown): string {
  const valueOf = (one: Parameter) => encodeURIComponent(String(one.example ?? sample(one.schema)))
  const target = path.replace(/\{(\w+)\}/g, (all, name) => {
    const found = parameters.find(one => one.in === 'path' && one.name === name)
    return found ? valueOf(found) : all
  })
  const query = parameters
    .filter(one => one.in === 'query' && one.required)
    .map(one => `${one.name}=${valueOf(one)}`)
    .join('&')
  const words = ['curl', '-H "Authorization: Bearer $TOKEN"']
  if (method !== 'GET') words.push(`-X ${method}`)
  if (request) {
    const body = JSON.stringify(request.example ?? sample(request.schema))
    words.push(`-H 'Content-Type: ${request.type}'`, `-d '${body.replaceAll("'", "'\\''")}'`)
  }
  words.push(`'${address(target.slice(1)).href}${query && '?' + query}'`)
  return words.join(' ')
}
