// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.schema;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.thread.AnyThread;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The JSON Schemas of operators: on all nodes, in the store, and handed to the checks of payloads of this node. */
@AnyThread
public final class SchemaRegistry implements BrokerModule {

    /** Maximum bytes of one schema with its description, as JSON. */
    static final int MAX_BYTES = 64 << 10;

    private static final ObjectLimits LIMITS = new ObjectLimits(200, MAX_BYTES, 2 << 20);

    private final ObjectKind<SchemaObject> objects;
    private volatile @Nullable PayloadChecks checks;

    /**
     * Creates it without schemas.
     *
     * @param all keeps what operators make
     */
    public SchemaRegistry(LiveObjects all) {
        objects = all.kind("schema", SchemaObject.FORMAT, LIMITS);
    }

    /** The schemas. */
    ObjectKind<SchemaObject> objects() {
        return objects;
    }

    /** The checks of payloads of this node; null if it has none. */
    @Nullable
    PayloadChecks checks() {
        return checks;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            PayloadChecks used = core.payloadChecks();
            checks = used;
            if (used != null) {
                objects.watch(new ObjectWatcher<>() {

                    @Override
                    public void changed(LiveObject<SchemaObject> object) {
                        used.putSchema(object.id(), object.value().source());
                    }

                    @Override
                    public void removed(String id) {
                        used.removeSchema(id);
                    }
                });
            }
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
