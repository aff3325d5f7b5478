// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The objects of a kind that all nodes have by the same names, such as bridges and sources: those with one name are one, with a state on each node, and
 * operations on all nodes or on one.
 *
 * @param <O> what operators do with an object
 */
@AnyThread
public abstract class NodeObjectRoutes<O extends Enum<O>> implements RouteGroup {

    /** The field with the counts of an object. */
    protected static final String METRICS = "metrics";

    private final NodeCalls calls;
    private final String kind;
    private final Class<O> operations;
    private final List<String> counts;

    /**
     * Creates the routes.
     *
     * @param calls reaches the other nodes
     * @param kind the kind in the singular; its plural, which ends in s, is the first part of paths
     * @param operations what operators do with an object; the names in lower case are the last parts of paths
     * @param counts the names of the counts, which are summed up over nodes
     */
    protected NodeObjectRoutes(NodeCalls calls, String kind, Class<O> operations, List<String> counts) {
        this.calls = calls;
        this.kind = kind;
        this.operations = operations;
        this.counts = List.copyOf(counts);
        calls.register(listCall(), question -> Mono.fromCallable(() -> Map.of("rows", here())));
        calls.register(operateCall(), this::operateHere);
    }

    private String listCall() {
        return kind + "s.list";
    }

    private String operateCall() {
        return kind + ".operate";
    }

    @Override
    public List<Route> routes() {
        String path = "/" + kind + "s";
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get(path, Role.VIEWER, this::list));
        routes.add(Route.get(path + "/{id}", Role.VIEWER, this::show));
        for (O operation : operations.getEnumConstants()) {
            String each = path + "/{id}/" + operation.name().toLowerCase(Locale.ROOT);
            routes.add(Route.post(each, Role.ADMINISTRATOR, request -> everywhere(request, operation)));
            routes.add(Route.post("/nodes/{node}" + each, Role.ADMINISTRATOR, request -> onNode(request, operation)));
        }
        return routes;
    }

    // --- what differs between kinds

    /**
     * Lists the objects of this node.
     *
     * @return for each {@code name}, {@code status}, {@link #METRICS} with the counts, and fields of the kind
     */
    protected abstract List<Map<String, Object>> here();

    /**
     * Operates an object of this node.
     *
     * @param name the name of the object
     * @param operation the operation
     * @return false if it has none with this name
     */
    protected abstract boolean operate(String name, O operation);

    /**
     * Requires that an object can be operated, before nodes are asked.
     *
     * @param name the name of the object
     * @throws io.smqtt.admin.api.ProblemException if it cannot; by default never
     */
    protected void requireOperable(String name) {}

    /**
     * Selects the fields that identify an object, the first ones of it.
     *
     * @param name the name of the object
     * @param onNode its fields on one of the nodes
     * @return the fields that are the same on all nodes
     */
    protected abstract Map<String, Object> identity(String name, Map<String, Object> onNode);

    /**
     * Returns the name of an object.
     *
     * @param id the identifier in a path
     * @return the name
     */
    protected String name(String id) {
        return id;
    }

    /**
     * Describes that no node has the object.
     *
     * @return the answer
     */
    protected abstract Problem missing();

    // --- over all nodes

    private Mono<Map<String, Object>> operateHere(JsonFields question) {
        O operation;
        try {
            operation = Enum.valueOf(operations, question.text("operation"));
        } catch (IllegalArgumentException e) { // of a later version
            throw Problem.badRequest("there is no such operation").exception();
        }
        return operate(question.text("name"), operation) ? Mono.just(Map.of("done", true)) : Mono.empty();
    }

    private Map<String, Map<String, Object>> merged(NodeCalls.Answers answers) {
        Map<String, List<Map<String, Object>>> byName = new TreeMap<>();
        answers.byNode().forEach((node, found) -> {
            for (Object row : found.get("rows") instanceof List<?> rows ? rows : List.of()) {
                if (row instanceof Map<?, ?> object) {
                    Map<String, Object> own = new LinkedHashMap<>();
                    own.put("node", node);
                    object.forEach((field, value) -> own.put(String.valueOf(field), value));
                    byName.computeIfAbsent(String.valueOf(own.remove("name")), name -> new ArrayList<>())
                            .add(own);
                }
            }
        });
        Map<String, Map<String, Object>> all = new TreeMap<>();
        byName.forEach((name, nodes) -> all.put(name, together(name, nodes)));
        return all;
    }

    private Map<String, Object> together(String name, List<Map<String, Object>> nodes) {
        TreeSet<String> states = new TreeSet<>();
        Map<String, Long> sums = new LinkedHashMap<>();
        counts.forEach(count -> sums.put(count, 0L));
        for (Map<String, Object> node : nodes) {
            states.add(String.valueOf(node.get("status")));
            if (node.get(METRICS) instanceof Map<?, ?> metrics) {
                sums.replaceAll((count, sum) -> sum + number(metrics.get(count)));
            }
        }
        if (states.size() > 1 && !states.contains("stopped")) {
            states.remove("standby"); // another node has it
        }
        Map<String, Object> all = new LinkedHashMap<>(identity(name, nodes.get(0)));
        all.put("status", states.size() == 1 ? states.first() : "inconsistent");
        all.put(METRICS, sums);
        all.put("node_status", nodes);
        return all;
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return calls.askAll(listCall(), Map.of()).map(answers -> {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("data", List.copyOf(merged(answers).values()));
            return answer(fields, answers);
        });
    }

    private Mono<ApiAnswer> show(ApiRequest request) {
        return calls.askAll(listCall(), Map.of()).map(answers -> {
            Map<String, Object> found = merged(answers).get(name(request.path("id")));
            if (found == null) {
                throw (answers.incomplete().isEmpty()
                                ? missing()
                                : Problem.unavailable(
                                        "not found, and these nodes did not answer: " + answers.incomplete()))
                        .exception();
            }
            return answer(found, answers);
        });
    }

    private static ApiAnswer answer(Map<String, Object> fields, NodeCalls.Answers answers) {
        if (!answers.incomplete().isEmpty()) {
            fields.put("incomplete", answers.incomplete());
        }
        return ApiAnswer.json(fields);
    }

    private Map<String, Object> question(ApiRequest request, O operation) {
        String name = name(request.path("id"));
        requireOperable(name);
        return Map.of("name", name, "operation", operation.name());
    }

    private Mono<ApiAnswer> everywhere(ApiRequest request, O operation) {
        return calls.askAll(operateCall(), question(request, operation)).map(this::done);
    }

    private Mono<ApiAnswer> onNode(ApiRequest request, O operation) {
        String node = request.path("node");
        if (!calls.nodes().contains(node)) {
            throw new Problem(404, "NODE_NOT_FOUND", "there is no such node").exception();
        }
        return calls.ask(Map.of(node, question(request, operation)), operateCall(), NodeCalls.DEADLINE)
                .map(this::done);
    }

    private ApiAnswer done(NodeCalls.Answers answers) {
        if (!answers.incomplete().isEmpty()) {
            throw Problem.unavailable("these nodes did not answer: " + answers.incomplete())
                    .exception();
        }
        if (answers.byNode().isEmpty()) {
            throw missing().exception();
        }
        return ApiAnswer.noContent();
    }
}
