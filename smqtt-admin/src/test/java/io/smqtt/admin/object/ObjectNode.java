// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import io.smqtt.BrokerModule;
import io.smqtt.admin.JsonFields;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.spi.BrokerStore;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A broker with objects of the kind {@code note}, whose values are texts. */
final class ObjectNode implements BrokerModule, AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    final LiveObjects objects = new LiveObjects();
    final ObjectKind<String> notes;
    final List<String> seen = new CopyOnWriteArrayList<>();
    final TestBroker broker;
    private @Nullable Core core;

    /** Reads and writes a text. */
    static final class Format implements ObjectFormat<String> {

        @Override
        public String read(String id, JsonFields fields) {
            return fields.text("text");
        }

        @Override
        public Map<String, Object> write(String value) {
            return Map.of("text", value);
        }
    }

    private ObjectNode(ObjectLimits limits, List<BrokerModule> modules, @Nullable BrokerStore store) {
        notes = objects.kind("note", new Format(), limits, ObjectNode::keepTheLast);
        notes.watch(new ObjectWatcher<>() {
            @Override
            public void changed(LiveObject<String> object) {
                seen.add(object.id() + '=' + object.value());
            }

            @Override
            public void removed(String id) {
                seen.add(id + " is gone");
            }
        });
        List<BrokerModule> all = new ArrayList<>(modules);
        all.add(this);
        broker = TestBroker.builder()
                .parts(parts -> {
                    all.forEach(parts::module);
                    return parts.store(store);
                })
                .start();
    }

    private static void keepTheLast(Map<String, String> before, Map<String, String> after) {
        if (before.containsKey("last") && !after.containsKey("last")) {
            throw new IllegalArgumentException("the last one stays");
        }
    }

    static ObjectNode alone(ObjectLimits limits, @Nullable BrokerStore store) {
        return new ObjectNode(limits, List.of(), store);
    }

    static ObjectNode in(MemoryNetwork network, String name) {
        ClusterConfig config = ClusterConfig.builder().nodeId(name).build();
        return new ObjectNode(ObjectLimits.FEW, List.of(ClusterModule.of(config, network.transport(name))), null);
    }

    LiveObject<String> put(String id, String text, Expected expected) {
        return Objects.requireNonNull(
                notes.put(id, text, expected, "user alice").block(PATIENCE));
    }

    void delete(String id) {
        notes.delete(id, Expected.ANYTHING, "user alice").block(PATIENCE);
    }

    @Nullable
    String text(String id) {
        LiveObject<String> object = notes.get(id);
        return object == null ? null : object.value();
    }

    Core core() {
        return Objects.requireNonNull(core);
    }

    @Override
    public Mono<Void> start(Core started) {
        core = started;
        return objects.start(started);
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(objects::stop);
    }

    @Override
    public void close() {
        broker.close();
    }
}
