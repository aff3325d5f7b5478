// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.StorageConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Words that a bridge remembers about its sessions at other brokers: a hidden retained message, so they are stored and replicated as those are. They
 * belong to one client identifier: with another one the sessions are others, and nothing is remembered.
 */
@AnyThread
final class BridgeNote {

    /** Stands in no topic filter, client identifier or address. */
    private static final String SEPARATOR = "\0";

    private final BrokerModule.Core core;
    private final String root;
    private final String name;
    private final boolean ofNode;
    private final Supplier<String> clientId;

    /**
     * Creates the note.
     *
     * @param root the begin of its topic, for one kind of notes
     * @param name the name of the connection
     * @param ofNode whether each node has its own sessions
     * @param clientId the client identifier at the other brokers
     */
    BridgeNote(BrokerModule.Core core, String root, String name, boolean ofNode, Supplier<String> clientId) {
        this.core = core;
        this.root = root;
        this.name = name;
        this.ofNode = ofNode;
        this.clientId = clientId;
    }

    /** The session of each node is another one with {@code nodes: each}. */
    private TopicName topic() {
        Supplier<ClusterStatus> cluster = core.cluster();
        String node = cluster == null || !ofNode
                ? ""
                : '/' + encoded(cluster.get().self().nodeId());
        return TopicName.of(root + encoded(name) + node);
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    /** The words; none if nothing was written, or about another client identifier. */
    List<String> read() {
        ApplicationMessage message = core.router().retained().get(topic());
        if (message == null) {
            return List.of();
        }
        String text = new String(message.payload().toByteArray(), StandardCharsets.UTF_8);
        List<String> words = List.of(text.split(SEPARATOR));
        return words.get(0).equals(clientId.get()) ? words.subList(1, words.size()) : List.of();
    }

    /** Calls the action on the event loop on which notes are written, later; not while the broker stops. */
    void change(Consumer<RoutingLoop> action) {
        RoutingLoop loop = core.router().loops().get(0);
        try {
            loop.executor().execute(() -> action.accept(loop));
        } catch (RejectedExecutionException e) {
            // the broker stops
        }
    }

    /** Writes words in place of the former ones; without any the note is removed. */
    @OnEventLoop
    void write(RoutingLoop loop, List<String> words) {
        write(loop, words, RouteTicket.NONE);
    }

    /**
     * Writes words in place of the former ones, later; not while the broker stops.
     *
     * @param then receives whether they are stored as durably as messages are, on some event loop; true without a store
     */
    void store(List<String> words, Consumer<Boolean> then) {
        boolean stable = core.config().storage().sync() == StorageConfig.Sync.SYNC;
        change(loop -> {
            NoteTicket ticket = new NoteTicket(stable, then);
            write(loop, words, ticket);
            ticket.release(true);
        });
    }

    private void write(RoutingLoop loop, List<String> words, RouteTicket ticket) {
        List<String> all = new ArrayList<>(List.of(clientId.get()));
        all.addAll(words);
        ApplicationMessage message = ApplicationMessage.builder(topic().value())
                .payload(words.isEmpty() ? "" : String.join(SEPARATOR, all)) // an empty one removes it
                .retain(true)
                .build();
        core.sessions()
                .retained()
                .keep(loop, message.accepted(loop.nextMessageId(), core.ticker().nanoTime(), null), ticket);
    }
}
