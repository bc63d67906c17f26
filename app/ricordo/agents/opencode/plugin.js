// Gives opencode the notes of its projects. `ricordo connect` wrote this file, `ricordo disconnect`
// removes it. opencode 1 calls `server`, opencode 2 `setup`. No error of it reaches a session.
import { spawn } from "node:child_process"

const LAUNCHER = @LAUNCHER@
const HAS_MCP = @HAS_MCP@
const PATIENCE = 3000 // milliseconds

// Starts `ricordo hook EVENT` with a document; resolves to the context that it answers, "" for none.
function ask(event, document) {
  return new Promise((resolve) => {
    let answer = ""
    const finish = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext || "")
      } catch {
        resolve("")
      }
    }
    const timer = setTimeout(() => {
      child?.kill()
      resolve("")
    }, PATIENCE)
    let child
    try {
      child = spawn("sh", ["-c", LAUNCHER, "ricordo", "hook", event], {
        stdio: ["pipe", "pipe", "ignore"],
      })
      child.on("error", finish)
      child.on("close", finish)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (answer += data))
      child.stdin.end(JSON.stringify(document))
    } catch {
      finish()
    }
  })
}

function createSessions(directory) {
  const parts = new Map() // promises of the context of a start, by session
  const children = new Set() // sessions of sub-agents
  return {
    children,
    start(session) {
      if (!parts.has(session)) {
        const document = { cwd: directory, session_id: session, source: "startup" }
        parts.set(session, ask("start", { ...document, hook_event_name: "SessionStart" }))
      }
      return parts.get(session)
    },
    prompt: (session, prompt) => ask("prompt", { cwd: directory, session_id: session, prompt }),
    wrote(session, args, isNew) {
      const response = { type: isNew ? "create" : "update" }
      const document = { cwd: directory, session_id: session, tool_input: args }
      return ask("wrote", { ...document, tool_response: response })
    },
    stop: (session) => ask("end", { cwd: directory, session_id: session }),
    compact(session, summary) {
      parts.delete(session)
      const document = { cwd: directory, session_id: session, compact_summary: summary }
      return ask("compact", document)
    },
  }
}

const WRITING = new Set(["write", "edit", "multiedit", "patch", "apply_patch"])

async function server(input) {
  const sessions = createSessions(input.directory || process.cwd())
  return {
    config: async (config) => {
      if (!HAS_MCP) return
      config.mcp ??= {}
      config.mcp.ricordo ??= {
        type: "local",
        command: ["sh", "-c", LAUNCHER, "ricordo", "mcp"],
        enabled: true,
      }
    },
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) sessions.children.add(info.id)
      if (event.type === "session.idle" && sessionID) await sessions.stop(sessionID)
      if (event.type === "session.compacted" && sessionID) await sessions.compact(sessionID, "")
    },
    "chat.message": async (message, output) => {
      if (sessions.children.has(message.sessionID)) return
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const text = texts.map((part) => part.text).join("\n")
      const context = text && (await sessions.prompt(message.sessionID, text))
      if (!context) return
      // ids are compared as text: this one comes after that of the message
      output.parts.push({
        id: `${texts[0].id}r`,
        sessionID: message.sessionID,
        messageID: output.message.id,
        type: "text",
        text: context,
        synthetic: true,
      })
    },
    "experimental.chat.system.transform": async (request, output) => {
      if (!request.sessionID || sessions.children.has(request.sessionID)) return
      const context = await sessions.start(request.sessionID)
      if (context) output.system.push(context)
    },
    "tool.execute.after": async (call, result) => {
      if (!WRITING.has(call.tool)) return
      await sessions.wrote(call.sessionID, call.args, result?.metadata?.exists === false)
    },
  }
}

// opencode 2 hands over its API; what a version lacks is left out
async function setup(context) {
  const sessions = createSessions(context.directory || process.cwd())
  context.session?.hook?.("context", async (request, output) => {
    if (!request?.sessionID || !Array.isArray(output?.system)) return
    const facts = await sessions.start(request.sessionID)
    if (facts) output.system.push(facts)
  })
  context.session?.hook?.("compaction", async (request) => {
    if (request?.sessionID) await sessions.compact(request.sessionID, "")
  })
}

export default { id: "ricordo", server, setup }
