// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeAddress;
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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The filters that a bridge has subscribed at other brokers, which keep them in their sessions: those that are no longer configured are
 * unsubscribed at the next connection. They are a hidden retained message, so they are stored and replicated as those are. It names the
 * client identifier and, for each address that is configured, the filters; it is written only when they change. Those of an address that is no
 * longer configured are logged, and forgotten: nothing connects to it any more.
 */
@AnyThread
final class RemoteFilters {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteFilters.class);
    private static final String ROOT = "$smqtt/bridge-in/";

    /** Stands in no topic filter, client identifier or address. */
    private static final String SEPARATOR = "\0";

    private final BrokerModule.Core core;
    private final Bridge bridge;

    RemoteFilters(BrokerModule.Core core, Bridge bridge) {
        this.core = core;
        this.bridge = bridge;
    }

    /** The session of each node is another one with {@code nodes: each}. */
    private TopicName topic() {
        Supplier<ClusterStatus> cluster = core.cluster();
        String node = cluster == null || !bridge.config().isEach()
                ? ""
                : '/' + encoded(cluster.get().self().nodeId());
        return TopicName.of(ROOT + encoded(bridge.name()) + node);
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    /** The filters that the session of the bridge at an address is known to have. */
    Set<String> at(BridgeAddress address) {
        return read().getOrDefault(address.text(), Set.of());
    }

    /** The filters by address; nothing if they are those of another client identifier. */
    private Map<String, Set<String>> read() {
        ApplicationMessage message = core.router().retained().get(topic());
        Map<String, Set<String>> filters = new LinkedHashMap<>();
        if (message == null) {
            return filters;
        }
        String text = new String(message.payload().toByteArray(), StandardCharsets.UTF_8);
        Iterator<String> words = List.of(text.split(SEPARATOR)).iterator();
        if (!words.next().equals(bridge.clientId())) {
            return filters;
        }
        while (words.hasNext()) {
            String address = words.next();
            if (words.hasNext()) {
                filters.computeIfAbsent(address, key -> new TreeSet<>()).add(words.next());
            }
        }
        return filters;
    }

    /** Notes the filters of an address in place of the former ones. Nothing is noted while the broker stops. */
    void set(BridgeAddress address, Set<String> filters) {
        RoutingLoop loop = core.router().loops().get(0);
        try {
            loop.executor().execute(() -> write(loop, address.text(), filters));
        } catch (RejectedExecutionException e) {
            // the broker stops
        }
    }

    /** Logs and removes what is subscribed at addresses that are not in the configuration. Returns whether there was anything. */
    private boolean forgetRemoved(Map<String, Set<String>> all) {
        Set<String> configured = bridge.config().parsedAddresses().stream()
                .map(BridgeAddress::text)
                .collect(Collectors.toSet());
        return all.entrySet().removeIf(each -> {
            boolean removed = !configured.contains(each.getKey());
            if (removed) {
                LOG.warn(
                        "bridge {}: {} is not in addresses any more; the session of client {} there keeps its subscriptions until it ends: {}",
                        bridge.name(),
                        each.getKey(),
                        bridge.clientId(),
                        String.join(", ", each.getValue()));
            }
            return removed;
        });
    }

    @OnEventLoop
    private void write(RoutingLoop loop, String address, Set<String> filters) {
        Map<String, Set<String>> all = read();
        Set<String> kept = bridge.config().cleanStart() ? Set.of() : filters; // else it ends with the connection
        boolean changed = forgetRemoved(all);
        if (all.getOrDefault(address, Set.of()).equals(kept) && !changed) {
            return;
        }
        all.put(address, kept);
        List<String> words = new ArrayList<>(List.of(bridge.clientId()));
        all.forEach((at, each) -> each.forEach(filter -> {
            words.add(at);
            words.add(filter);
        }));
        ApplicationMessage message = ApplicationMessage.builder(topic().value())
                .payload(words.size() == 1 ? "" : String.join(SEPARATOR, words)) // an empty one removes it
                .retain(true)
                .build();
        core.sessions()
                .retained()
                .keep(loop, message.accepted(loop.nextMessageId(), core.ticker().nanoTime(), null), RouteTicket.NONE);
    }
}
