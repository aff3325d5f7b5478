// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** PLACEHOLDER, to be replaced by the real one: binds sockets and does nothing with them. */
public final class Broker {
    private final Map<String, ServerSocket> sockets = new LinkedHashMap<>();

    Broker(BrokerConfig config) {
        config.listeners().forEach((name, listener) -> {
            InetSocketAddress address = new InetSocketAddress(listener.host(), listener.port());
            try {
                ServerSocket socket = new ServerSocket();
                socket.bind(address);
                sockets.put(name, socket);
            } catch (IOException e) {
                throw new BindFailedException(name, address, e);
            }
        });
    }

    /** {@return a builder} */
    public static BrokerBuilder builder() {
        return new BrokerBuilder();
    }

    /** {@return bound addresses} */
    public Map<String, InetSocketAddress> listeners() {
        Map<String, InetSocketAddress> bound = new LinkedHashMap<>();
        sockets.forEach((name, socket) -> bound.put(name, (InetSocketAddress) socket.getLocalSocketAddress()));
        return bound;
    }

    /** {@return nothing} */
    public ReloadResult reload() {
        return new ReloadResult(List.of(), List.of());
    }

    /** {@return completes when closed} */
    public Mono<Void> close(Duration deadline) {
        return Mono.fromRunnable(() -> sockets.values().forEach(socket -> {
            try {
                socket.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }));
    }
}
