// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.smqtt.BrokerClosedException;
import io.smqtt.admin.BrokerBusyException;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Role;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Routes requests of the API. A request is refused in this order: address, Host and Origin (403), path (404), method (405), caller (401),
 * role (403), body (413, 415), and its contents by the handler (400).
 */
@AnyThread
public final class Api {

    private static final Logger LOG = LoggerFactory.getLogger(Api.class);
    private static final String JSON = "application/json";
    /** Stands in a path for the value of the parameter of this name. */
    private static final String MOVED = "~";

    private static final String UNAUTHORIZED = "UNAUTHORIZED_ROLE";

    /** The time after which a handler has not answered: longer than what a call of all nodes or a change that is stored may take. */
    public static final Duration PATIENCE = Duration.ofSeconds(45);

    private final List<String> bases;
    private final Callers callers;
    private final List<ApiObserver> observers;
    private final Duration patience;
    private final List<Entry> entries = new ArrayList<>();
    private final Streams streams = new Streams(Streams.LONGEST_OF_APPLICATION, Streams.CHECK);

    /**
     * Creates the router.
     *
     * @param bases the paths that it is mounted at, such as {@code /api/v5}
     * @param callers authenticates requests
     * @param groups the routes
     * @param observers hear of each answer
     * @throws IllegalArgumentException if a route exists twice
     */
    public Api(List<String> bases, Callers callers, List<? extends RouteGroup> groups, List<ApiObserver> observers) {
        this(bases, callers, groups, observers, PATIENCE);
    }

    Api(
            List<String> bases,
            Callers callers,
            List<? extends RouteGroup> groups,
            List<ApiObserver> observers,
            Duration patience) {
        this.patience = patience;
        this.bases = List.copyOf(bases);
        this.callers = callers;
        this.observers = List.copyOf(observers);
        Set<String> names = new TreeSet<>();
        for (RouteGroup group : groups) {
            for (Route route : group.routes()) {
                if (!names.add(route.method() + " " + route.template())) {
                    throw new IllegalArgumentException(route.method() + " " + route.template() + " exists twice");
                }
                entries.add(new Entry(PathTemplate.of(route.template()), route));
            }
        }
        entries.sort(Comparator.comparing(Entry::template));
    }

    /**
     * A route with its template.
     *
     * @param template the template
     * @param route the route
     */
    private record Entry(PathTemplate template, Route route) {}

    /**
     * Lists the routes.
     *
     * @return all routes
     */
    public List<Route> routes() {
        return entries.stream().map(Entry::route).toList();
    }

    /**
     * Tells whether a path is one of this router.
     *
     * @param path a path, not decoded
     * @return true if it begins with a base
     */
    public boolean serves(String path) {
        return base(path) != null;
    }

    private @Nullable String base(String path) {
        for (String base : bases) {
            if (path.startsWith(base) && (path.length() == base.length() || path.charAt(base.length()) == '/')) {
                return base;
            }
        }
        return null;
    }

    /**
     * Answers a request. A handler that has not answered within {@link #PATIENCE} is cancelled, and the answer is 503; a stream has begun by
     * then, and may last.
     *
     * @param call the request, whose path begins with a base
     * @return one answer, whatever happens
     */
    public Mono<ApiAnswer> answer(ApiCall call) {
        return Mono.defer(() -> route(call)).onErrorResume(error -> Mono.just(failed(call, error)));
    }

    private Mono<ApiAnswer> route(ApiCall call) {
        Callers.Refusal refusal = callers.refusal(call.credentials());
        if (refusal != null) {
            return Mono.just(refused(call, "", refusal));
        }
        String base = base(call.path());
        String below = base == null ? "" : call.path().substring(base.length());
        List<String> segments = PathTemplate.split(below.isEmpty() ? "/" : below);
        String method = call.method().equals("HEAD") ? "GET" : call.method();
        Set<String> others = new TreeSet<>();
        for (Entry entry : entries) {
            Map<String, String> parameters = entry.template.match(segments);
            if (parameters != null) {
                if (entry.route.method().equals(method)) {
                    return authorize(call, entry.route, parameters);
                }
                others.add(entry.route.method());
            }
        }
        return Mono.just(others.isEmpty() ? noSuchPath(base == null ? "" : base) : notAllowed(others));
    }

    private static ApiAnswer noSuchPath(String base) {
        String description = base + "/openapi.yaml";
        String message = "there is no such path; " + description
                + " describes those that exist, and the dashboard shows it on its page REST API";
        return Problem.notFound(message).answer().with("Link", "<" + description + ">; rel=\"service-desc\"");
    }

    private static ApiAnswer notAllowed(Set<String> methods) {
        if (methods.contains("GET")) {
            methods.add("HEAD");
        }
        String allowed = String.join(", ", methods);
        return new Problem(405, "METHOD_NOT_ALLOWED", "the methods of this path are " + allowed)
                .answer()
                .with("Allow", allowed);
    }

    private ApiAnswer refused(ApiCall call, String template, Callers.Refusal refusal) {
        observers.forEach(one -> one.refused(call, null, template, refusal.status(), refusal.code()));
        ApiAnswer answer = new Problem(refusal.status(), refusal.code(), refusal.message()).answer();
        if (refusal.status() == 401) {
            answer = answer.with("WWW-Authenticate", "Bearer realm=\"smqtt\"");
        }
        return refusal.retryAfter() == null
                ? answer
                : answer.with("Retry-After", Long.toString(refusal.retryAfter().toSeconds()));
    }

    private Mono<ApiAnswer> authorize(ApiCall call, Route route, Map<String, String> parameters) {
        Role least = route.least();
        if (least == null) {
            return read(call, route, null, parameters);
        }
        return callers.identify(call.credentials()).flatMap(found -> {
            if (found instanceof Callers.Refusal refusal) {
                return Mono.just(refused(call, route.template(), refusal));
            }
            Caller caller = ((Callers.Known) found).caller();
            if (!caller.role().includes(least)) {
                String message = "the role " + caller.role().text() + " may not do this; it needs " + least.text();
                observers.forEach(one -> one.refused(call, caller, route.template(), 403, UNAUTHORIZED));
                return Mono.just(new Problem(403, UNAUTHORIZED, message).answer());
            }
            return read(call, route, caller, parameters);
        });
    }

    private Mono<ApiAnswer> read(ApiCall call, Route route, @Nullable Caller caller, Map<String, String> parameters) {
        Map<String, List<String>> query = query(call.query());
        Mono<byte[]> body =
                route.maxBodyBytes() == 0 ? Mono.just(new byte[0]) : call.body().apply(route.maxBodyBytes());
        return body.flatMap(bytes -> {
            if (bytes.length > 0) {
                checkBody(call.header("Content-Type"), bytes);
            }
            ApiRequest request = new ApiRequest(
                    route, caller, call.credentials(), fromQuery(parameters, query.get(MOVED)), query, bytes);
            return Mono.defer(() -> route.handler().answer(request))
                    .timeout(patience, Mono.fromSupplier(Api::late))
                    .map(answer -> caller != null && answer instanceof ApiAnswer.Stream stream && stream.live()
                            ? streams.guarded(stream, caller, () -> callers.identifyAgain(call.credentials()))
                            : answer)
                    .onErrorResume(error -> Mono.just(failed(call, error)))
                    .doOnNext(answer ->
                            observers.forEach(one -> one.answered(request, answer.status(), answer.failure())));
        });
    }

    private static ApiAnswer late() {
        return Problem.unavailable("the broker has not answered in time")
                .answer()
                .with("Retry-After", "1");
    }

    /** Servers and proxies refuse some values in a path even if they are encoded, such as a slash: these may be in the query instead. */
    private static Map<String, String> fromQuery(Map<String, String> parameters, @Nullable List<String> moved) {
        if (moved == null || !parameters.containsValue(MOVED)) {
            return parameters;
        }
        Map<String, String> all = new HashMap<>(parameters);
        all.replaceAll((name, value) -> value.equals(MOVED) ? moved.get(0) : value);
        return all;
    }

    private static Map<String, List<String>> query(String query) {
        try {
            return new QueryStringDecoder(query, StandardCharsets.UTF_8, false).parameters();
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest("the query is not encoded correctly").exception();
        }
    }

    private static void checkBody(@Nullable String contentType, byte[] body) {
        String type =
                contentType == null ? "" : contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        if (!type.equals(JSON)) {
            throw new Problem(415, "UNSUPPORTED_MEDIA_TYPE", "the body must be " + JSON).exception();
        }
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body));
        } catch (CharacterCodingException e) {
            throw Problem.badRequest("the body is not UTF-8").exception();
        }
    }

    private static ApiAnswer failed(ApiCall call, Throwable error) {
        if (error instanceof ProblemException known) {
            return known.problem().answer();
        }
        if (error instanceof InvalidFieldException || error instanceof InvalidTopicException) {
            return Problem.badRequest(String.valueOf(error.getMessage())).answer();
        }
        if (error instanceof BrokerClosedException) {
            return Problem.unavailable("the broker does not run").answer().with("Retry-After", "1");
        }
        if (error instanceof BrokerBusyException) {
            return Problem.unavailable(String.valueOf(error.getMessage()))
                    .answer()
                    .with("Retry-After", "1");
        }
        LOG.warn("a request of the API failed: {} {}", call.method(), call.path(), error);
        return new Problem(500, "INTERNAL_ERROR", "failed; see the log").answer();
    }
}
