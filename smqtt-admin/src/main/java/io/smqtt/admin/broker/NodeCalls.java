// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule;
import io.smqtt.admin.BrokerBusyException;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.Json;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.ProblemException;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.PeerQueries;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Calls of the API to this node and to others. A call has a name; question and answer are objects of JSON. A node that does not
 * answer within {@link #DEADLINE}, because it is away or runs an earlier version, is named in the answer of the API.
 */
@AnyThread
public final class NodeCalls implements BrokerModule {

    /** The time within which a node must answer. */
    public static final Duration DEADLINE = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(NodeCalls.class);
    private static final String NAME = "management";
    private static final int PROBLEM = 500;

    /** This node has more time, since its answer is what is needed most. */
    private static final Duration HERE = Duration.ofSeconds(20);

    private final BrokerView view;
    private final Map<String, Call> calls = new ConcurrentHashMap<>();
    private volatile @Nullable PeerQueries peers;

    /**
     * Creates the calls of a node.
     *
     * @param view the broker
     */
    public NodeCalls(BrokerView view) {
        this.view = view;
    }

    /** Answers a call on this node. */
    @FunctionalInterface
    public interface Call {

        /**
         * Answers a question. Must not block.
         *
         * @param question its fields, of this version of the program or of another one
         * @return the fields of the answer; empty if there is nothing to answer
         */
        Mono<? extends Map<String, ?>> answer(JsonFields question);
    }

    /**
     * The answers of several nodes. Immutable.
     *
     * @param byNode the answers by node, in the order of the names; without nodes that had nothing to answer
     * @param incomplete the nodes that did not answer
     */
    public record Answers(Map<String, Map<String, ?>> byNode, List<String> incomplete) {}

    /** A node has not answered. */
    private static final class SilentException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        SilentException(String node) {
            super(node, null, false, false);
        }
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            PeerQueries queries = core.peerQueries();
            peers = queries;
            if (queries != null) {
                queries.answer(NAME, this::answered);
            }
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }

    /**
     * Registers a call. Before the broker starts.
     *
     * @param name its name, unique
     * @param call answers it
     */
    public void register(String name, Call call) {
        calls.put(name, call);
    }

    /**
     * Lists the nodes that are asked.
     *
     * @return the names of this node and of all other known ones, sorted
     */
    public List<String> nodes() {
        List<String> all = new ArrayList<>();
        all.add(view.nodeName());
        ClusterStatus status = view.clusterStatus();
        if (status != null) {
            status.peers().forEach(peer -> all.add(peer.node().nodeId()));
        }
        all.sort(null);
        return all;
    }

    /**
     * Asks several nodes at the same time.
     *
     * @param nodes the question for each node, by its name
     * @param name the name of the call
     * @param deadline the time for the answers
     * @return the answers, after that time at the latest; a problem that one of them has found becomes that of all
     */
    public Mono<Answers> ask(Map<String, ? extends Map<String, ?>> nodes, String name, Duration deadline) {
        return Flux.fromIterable(nodes.entrySet())
                .flatMap(
                        entry -> ask(entry.getKey(), name, entry.getValue(), deadline)
                                .map(answer -> new Answer(entry.getKey(), answer))
                                .onErrorResume(
                                        SilentException.class, error -> Mono.just(new Answer(entry.getKey(), null))),
                        Math.max(1, nodes.size()))
                .collectList()
                .map(NodeCalls::collected);
    }

    /**
     * Asks all nodes the same.
     *
     * @param name the name of the call
     * @param question the question
     * @return the answers, after two seconds at the latest
     */
    public Mono<Answers> askAll(String name, Map<String, ?> question) {
        return askAll(name, question, DEADLINE);
    }

    /**
     * Asks all nodes the same.
     *
     * @param name the name of the call
     * @param question the question
     * @param deadline the time for the answers of other nodes
     * @return the answers, after that time at the latest
     */
    public Mono<Answers> askAll(String name, Map<String, ?> question, Duration deadline) {
        Map<String, Map<String, ?>> all = new LinkedHashMap<>();
        nodes().forEach(node -> all.put(node, question));
        return ask(all, name, deadline);
    }

    /**
     * Asks one node.
     *
     * @param node its name; a problem of status 404 if there is none
     * @param name the name of the call
     * @param question the question
     * @return the answer; a problem of status 503 if it does not answer
     */
    public Mono<Map<String, ?>> askOne(String node, String name, Map<String, ?> question) {
        if (!nodes().contains(node)) {
            throw new Problem(404, "NODE_NOT_FOUND", "there is no such node").exception();
        }
        return ask(Map.of(node, question), name, DEADLINE).map(answers -> {
            Map<String, ?> found = answers.byNode().get(node);
            if (found == null) {
                throw Problem.unavailable("the node did not answer").exception();
            }
            return found;
        });
    }

    /**
     * The answer of a node.
     *
     * @param node its name
     * @param fields the answer; null if there is none
     */
    private record Answer(String node, @Nullable Map<String, ?> fields) {}

    private static Answers collected(List<Answer> all) {
        Map<String, Map<String, ?>> byNode = new TreeMap<>();
        List<String> incomplete = new ArrayList<>();
        for (Answer answer : all) {
            if (answer.fields == null) {
                incomplete.add(answer.node);
            } else {
                byNode.put(answer.node, answer.fields);
            }
        }
        incomplete.sort(null);
        return new Answers(byNode, incomplete);
    }

    private Mono<Map<String, ?>> ask(String node, String name, Map<String, ?> question, Duration deadline) {
        if (node.equals(view.nodeName())) {
            return here(name, JsonFields.of(question))
                    .timeout(HERE)
                    .onErrorMap(TimeoutException.class, error -> new SilentException(node));
        }
        PeerQueries queries = peers;
        if (queries == null) {
            return Mono.error(new SilentException(node));
        }
        byte[] bytes = Json.bytesOf(Map.of("call", name, "question", question));
        return queries.ask(node, NAME, bytes, deadline)
                .publishOn(
                        Schedulers.boundedElastic()) // an answer can have megabytes, which the loop of the cluster must
                // not read
                .onErrorMap(error -> new SilentException(node))
                .flatMap(answer -> read(node, answer));
    }

    private static Mono<Map<String, ?>> read(String node, byte[] answer) {
        try {
            JsonFields fields = JsonFields.parseTrusted(new String(answer, StandardCharsets.UTF_8));
            if (fields.has("problem")) {
                JsonFields problem = fields.object("problem");
                int status = (int) problem.number("status", 400, 599);
                return status == PROBLEM
                        ? Mono.error(new SilentException(node))
                        : Mono.error(new Problem(status, problem.text("code"), problem.text("message")).exception());
            }
            return fields.has("answer") ? Mono.just(fields.object("answer").toMap()) : Mono.empty();
        } catch (InvalidFieldException e) { // of a later version
            return Mono.error(new SilentException(node));
        }
    }

    private Mono<Map<String, ?>> here(String name, JsonFields question) {
        Call call = calls.get(name);
        if (call == null) {
            return Mono.error(new SilentException(view.nodeName()));
        }
        return call.answer(question).map(answer -> answer);
    }

    /** Answers another node, in the end always, and neither on the loop of the cluster nor on that of a session. */
    private Mono<byte[]> answered(byte[] asked) {
        return Mono.defer(() -> {
                    JsonFields fields = JsonFields.parseTrusted(new String(asked, StandardCharsets.UTF_8));
                    return here(fields.text("call"), fields.object("question"));
                })
                .subscribeOn(Schedulers.boundedElastic())
                .timeout(HERE)
                .publishOn(Schedulers.boundedElastic())
                .map(answer -> Map.of("answer", answer))
                .defaultIfEmpty(Map.of())
                .map(Json::bytesOf)
                .onErrorResume(error -> Mono.just(Json.bytesOf(Map.of("problem", problem(error)))));
    }

    private static Map<String, Object> problem(Throwable error) {
        if (error instanceof ProblemException known) {
            Problem problem = known.problem();
            return Map.of("status", problem.status(), "code", problem.code(), "message", problem.message());
        }
        if (error instanceof InvalidFieldException || error instanceof InvalidTopicException) {
            return Map.of("status", 400, "code", "BAD_REQUEST", "message", String.valueOf(error.getMessage()));
        }
        if (!(error instanceof BrokerClosedException
                || error instanceof BrokerBusyException
                || error instanceof SilentException)) {
            LOG.warn("a call of another node failed", error);
        }
        return Map.of("status", PROBLEM, "code", "INTERNAL_ERROR", "message", "failed");
    }
}
