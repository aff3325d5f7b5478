// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.PeerQueries;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The messages that nodes may have kept for the sessions of this one, and which were away when it started: before they failed, they acknowledged them. Such a
 * node sends them when it returns, or the node that has adopted its store does. Until then sessions stay here, because one that has moved would not get them.
 */
@OnClusterLoop
final class KeptElsewhere {

    private static final Logger LOG = LoggerFactory.getLogger(KeptElsewhere.class);
    private static final String QUESTION = "kept-messages";

    /** A node that has failed at the same time as this one is usually started again within this time. */
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final ClientWire wire;
    private final BiPredicate<String, String> hasSentOn;
    private final Function<String, @Nullable PeerOutbox> outboxes;
    private final Set<String> away = new HashSet<>();
    private final Set<String> asked = new HashSet<>();
    private @Nullable PeerQueries questions;
    private long startedAtNanos;
    private long askedAtNanos;

    /**
     * Creates it for a node that expects nothing.
     *
     * @param hasSentOn whether this node serves the store of one node, and has nothing of it any more that was kept for another one
     * @param outboxes the queue of messages for a node; null if it is not known
     */
    KeptElsewhere(
            ClientWire wire, BiPredicate<String, String> hasSentOn, Function<String, @Nullable PeerOutbox> outboxes) {
        this.wire = wire;
        this.hasSentOn = hasSentOn;
        this.outboxes = outboxes;
    }

    /** Begins to answer the questions of other nodes, and to ask them. Before the start. */
    @AnyThread
    void ask(PeerQueries carriers) {
        carriers.answer(
                QUESTION,
                question -> Mono.create(sink -> wire.execute(() -> {
                    List<String> names = names(question);
                    String asker = names.get(0);
                    List<String> come = names.stream()
                            .skip(1)
                            .filter(home -> hasSentOn.test(home, asker))
                            .toList();
                    PeerOutbox messages = outboxes.apply(asker);
                    Runnable answer = () -> sink.success(bytes(come));
                    if (messages == null || come.isEmpty()) {
                        answer.run();
                    } else {
                        messages.afterDrained(answer);
                    }
                })));
        wire.execute(() -> questions = carriers);
    }

    /** This node starts, and these are away. */
    void started(Set<String> nodes) {
        away.addAll(nodes);
        startedAtNanos = wire.nanoTime();
        askedAtNanos = startedAtNanos - PAUSE.toNanos();
    }

    /** A node is reachable: it sends what it has kept before anything else. */
    void up(String node) {
        away.remove(node);
    }

    /** Whether messages may come. A node that has not returned for a minute, and whose store is not served, is not expected any more. */
    boolean areExpected() {
        return !away.isEmpty() && wire.nanoTime() - startedAtNanos < LONGEST.toNanos();
    }

    /** Asks the nodes that may serve the stores of those that are away. Called periodically. */
    void tick(long nowNanos) {
        PeerQueries carriers = questions;
        if (carriers == null || nowNanos - askedAtNanos < PAUSE.toNanos() || !areExpected()) {
            return;
        }
        askedAtNanos = nowNanos;
        List<String> names = new ArrayList<>();
        names.add(wire.self().nodeId());
        names.addAll(away);
        byte[] question = bytes(names);
        for (String node : wire.keepers()) {
            if (asked.add(node)) {
                carriers.ask(node, QUESTION, question, DEADLINE)
                        .doFinally(signal -> wire.execute(() -> asked.remove(node)))
                        .subscribe(
                                answer -> wire.execute(() -> names(answer).forEach(away::remove)),
                                failure -> LOG.debug("{} does not say which messages it has sent on", node, failure));
            }
        }
    }

    private static byte[] bytes(List<String> names) {
        return String.join("\n", names).getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> names(byte[] text) {
        return List.of(new String(text, StandardCharsets.UTF_8).split("\n"));
    }
}
