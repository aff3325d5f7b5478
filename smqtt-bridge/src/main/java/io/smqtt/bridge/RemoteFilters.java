// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeAddress;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The filters that a bridge has subscribed at other brokers, which keep them in their sessions: those that are no longer configured are
 * unsubscribed at the next connection. They are a {@link BridgeNote}. It has, for each address that is configured, the filters; it is written only
 * when they change. Those of an address that is no longer configured are logged, and forgotten: nothing connects to it any more.
 */
@AnyThread
final class RemoteFilters {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteFilters.class);

    private final Bridge bridge;
    private final BridgeNote note;

    RemoteFilters(BrokerModule.Core core, Bridge bridge) {
        this.bridge = bridge;
        this.note = new BridgeNote(
                core, "$smqtt/bridge-in/", bridge.name(), bridge.config().isEach(), bridge::clientId);
    }

    /** The filters that the session of the bridge at an address is known to have. */
    Set<String> at(BridgeAddress address) {
        return read().getOrDefault(address.text(), Set.of());
    }

    /** The filters by address. */
    private Map<String, Set<String>> read() {
        Map<String, Set<String>> filters = new LinkedHashMap<>();
        Iterator<String> words = note.read().iterator();
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
        note.change(loop -> write(loop, address.text(), filters));
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
        List<String> words = new ArrayList<>();
        all.forEach((at, each) -> each.forEach(filter -> {
            words.add(at);
            words.add(filter);
        }));
        note.write(loop, words);
    }
}
