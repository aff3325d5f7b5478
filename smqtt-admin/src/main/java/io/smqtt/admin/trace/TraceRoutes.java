// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.trace;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /trace}: starts and ends traces on all nodes, and reads what they have recorded. */
@AnyThread
public final class TraceRoutes implements RouteGroup {

    private static final int USUAL_BYTES = 1_000;
    private static final int MOST_BYTES = 512 << 10;
    private static final int BODY_BYTES = 16 << 10;
    private static final String NAME = "name";
    private static final String NODE = "node";
    private static final String MISSING = "NOT_FOUND";
    private static final String ONE = "/trace/{name}";

    private final NodeTraces traces;
    private final ObjectKind<TraceSpec> specs;
    private final TraceLogs logs;
    private final TraceStream stream;
    private final TraceDownload downloads;

    /**
     * Creates the routes.
     *
     * @param traces the traces of this node
     * @param calls reaches the other nodes
     */
    public TraceRoutes(NodeTraces traces, NodeCalls calls) {
        this.traces = traces;
        this.specs = traces.specs();
        this.logs = new TraceLogs(traces, calls);
        this.stream = new TraceStream(traces, logs);
        this.downloads = new TraceDownload(logs);
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/trace", Role.VIEWER, this::list),
                new Route("POST", "/trace", Role.OPERATOR, BODY_BYTES, this::create),
                Route.delete("/trace", Role.OPERATOR, this::deleteAll),
                Route.get(ONE, Role.VIEWER, this::one),
                Route.delete(ONE, Role.OPERATOR, this::delete),
                new Route("PUT", ONE + "/stop", Role.OPERATOR, 0, this::stop),
                Route.get(ONE + "/log", Role.VIEWER, this::log),
                Route.get(ONE + "/log_detail", Role.VIEWER, this::logDetail),
                Route.get(ONE + "/stream", Role.VIEWER, this::stream),
                Route.get(ONE + "/download", Role.VIEWER, this::download));
    }

    private Instant now() {
        return traces.clock().instant();
    }

    private Map<String, Object> fields(LiveObject<TraceSpec> object, Map<String, Map<String, JsonFields>> details) {
        TraceSpec trace = object.value();
        Map<String, Object> sizes = new LinkedHashMap<>();
        details.getOrDefault(object.id(), Map.of())
                .forEach((node, detail) -> sizes.put(node, detail.number("size", 0, Long.MAX_VALUE)));
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(NAME, object.id());
        fields.put("type", TraceFormat.name(trace.type()));
        fields.put(TraceFormat.name(trace.type()), trace.value());
        fields.put("status", TraceFormat.name(trace.status(now())));
        fields.put("start_at", trace.start().toString());
        fields.put("end_at", trace.end().toString());
        fields.put("payload_encode", TraceFormat.name(trace.encoding()));
        fields.put("payload_limit", trace.payloadBytes());
        fields.put("formatter", trace.json() ? "json" : "text");
        fields.put("pings", trace.pings());
        fields.put("log_size", sizes);
        return fields;
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return logs.details()
                .map(details -> ApiAnswer.json(specs.list().stream()
                        .sorted(Comparator.comparing((LiveObject<TraceSpec> object) ->
                                        object.value().start())
                                .reversed())
                        .map(object -> fields(object, details))
                        .toList()));
    }

    private Mono<ApiAnswer> one(ApiRequest request) {
        LiveObject<TraceSpec> found = found(request);
        return logs.details().map(details -> ApiAnswer.json(fields(found, details)));
    }

    private LiveObject<TraceSpec> found(ApiRequest request) {
        LiveObject<TraceSpec> object = specs.get(request.path(NAME));
        if (object == null) {
            throw Problem.notFound("there is no such trace").exception();
        }
        return object;
    }

    private Mono<ApiAnswer> create(ApiRequest request) {
        JsonFields fields = request.fields();
        String name = fields.text(NAME);
        TraceFormat.checkName(name);
        TraceSpec trace = TraceFormat.requested(fields, now());
        requireNew(name, trace);
        return ObjectProblems.answered(
                specs.put(name, trace, Expected.NOTHING, Origins.of(request))
                        .map(made -> ApiAnswer.json(fields(made, Map.of()))),
                MISSING);
    }

    private void requireNew(String name, TraceSpec trace) {
        List<LiveObject<TraceSpec>> present = specs.list();
        if (specs.get(name) != null) {
            throw new Problem(409, "ALREADY_EXISTS", "there is a trace of this name").exception();
        }
        if (present.size() >= NodeTraces.MAX_TRACES) {
            throw new Problem(409, "EXCEED_LIMIT", "there are " + NodeTraces.MAX_TRACES + " traces; delete one first")
                    .exception();
        }
        for (LiveObject<TraceSpec> other : present) {
            boolean same = other.value().type() == trace.type()
                    && other.value().value().equals(trace.value())
                    && other.value().status(now()) != TraceSpec.Status.STOPPED;
            if (same) {
                throw new Problem(409, "DUPLICATE_CONDITION", "the trace " + other.id() + " traces the same")
                        .exception();
            }
        }
    }

    private Mono<ApiAnswer> stop(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        return ObjectProblems.answered(
                specs.put(object.id(), object.value().end(now()), Expected.SOMETHING, Origins.of(request))
                        .map(stopped -> ApiAnswer.json(Map.of(NAME, object.id(), "enable", false))),
                MISSING);
    }

    private Mono<ApiAnswer> delete(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        return ObjectProblems.answered(
                specs.delete(object.id(), Expected.SOMETHING, Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }

    private Mono<ApiAnswer> deleteAll(ApiRequest request) {
        return ObjectProblems.answered(
                Flux.fromIterable(specs.list())
                        .concatMap(object -> specs.delete(object.id(), Expected.SOMETHING, Origins.of(request)))
                        .then(Mono.fromSupplier(ApiAnswer::noContent)),
                MISSING);
    }

    /** The nodes of a request: the one that it names, or all. */
    private List<String> nodes(ApiRequest request) {
        String node = request.query(NODE);
        if (node == null) {
            return logs.nodes();
        }
        if (!logs.nodes().contains(node)) {
            throw new Problem(404, "NODE_ERROR", "there is no node of this name").exception();
        }
        return List.of(node);
    }

    private Mono<ApiAnswer> log(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        String node = request.query(NODE) == null ? logs.here() : nodes(request).get(0);
        long position = request.number("position", 0, 0, Long.MAX_VALUE);
        int bytes = (int) request.number("bytes", USUAL_BYTES, 1, MOST_BYTES);
        return logs.part(node, object.id(), position, bytes)
                .<ApiAnswer>map(part -> ApiAnswer.json(Map.of(
                        "items",
                        part.text(),
                        "meta",
                        Map.of("position", part.next(), "bytes", bytes, "size", part.size(), "node", node))))
                .switchIfEmpty(Mono.error(
                        () -> Problem.unavailable("the node does not answer").exception()));
    }

    private Mono<ApiAnswer> logDetail(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        return logs.details()
                .map(details -> ApiAnswer.json(details.getOrDefault(object.id(), Map.of()).entrySet().stream()
                        .map(entry -> Map.of(
                                NODE,
                                entry.getKey(),
                                "size",
                                entry.getValue().number("size", 0, Long.MAX_VALUE),
                                "mtime",
                                entry.getValue().number("mtime", 0, Long.MAX_VALUE)))
                        .toList()));
    }

    private Mono<ApiAnswer> stream(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        if (!stream.hasRoom()) {
            throw Problem.unavailable("there are " + TraceStream.MAX_READERS + " readers of traces already")
                    .exception();
        }
        return Mono.just(ApiAnswer.stream("text/event-stream", stream.of(object.id())));
    }

    private Mono<ApiAnswer> download(ApiRequest request) {
        LiveObject<TraceSpec> object = found(request);
        List<String> nodes = nodes(request);
        String format = request.query("format");
        if (format != null && !format.equals("zip") && !format.equals("text")) {
            throw Problem.badRequest("the parameter format must be zip or text").exception();
        }
        if (!downloads.hasRoom()) {
            return Mono.just(Problem.unavailable(
                            TraceDownload.MAX_DOWNLOADS + " traces are being downloaded from this node; try again")
                    .answer()
                    .with("Retry-After", "5"));
        }
        boolean text = "text".equals(format);
        int timeAt = object.value().json() ? TraceLine.TIME_IN_JSON : 0;
        ApiAnswer answer = text
                ? ApiAnswer.download("text/plain; charset=utf-8", downloads.text(nodes, object.id(), timeAt))
                : ApiAnswer.download("application/zip", downloads.zip(nodes, object.id()));
        return Mono.just(answer.with(
                "Content-Disposition", "attachment; filename=\"" + object.id() + (text ? ".log\"" : ".zip\"")));
    }
}
