// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.spi.Sources;
import io.smqtt.thread.AnyThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The sources that operators have made, on all nodes: each node begins and ends its own. */
@AnyThread
public final class SourceObjects implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(SourceObjects.class);
    private static final ObjectLimits LIMITS = new ObjectLimits(100, 64 << 10, 4 << 20);

    private final ObjectKind<LiveSource> kind;

    /**
     * Creates the part of a node.
     *
     * @param objects keeps what operators have made
     */
    public SourceObjects(LiveObjects objects) {
        kind = objects.kind("source", LiveSource.FORMAT, LIMITS);
    }

    ObjectKind<LiveSource> kind() {
        return kind;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            Sources sources = core.sources();
            if (sources == null) {
                return; // a broker of an application without the module
            }
            kind.watch(new ObjectWatcher<>() {

                @Override
                public void changed(LiveObject<LiveSource> object) {
                    sources.put(object.id(), object.value().keys())
                            .subscribe(
                                    done -> {},
                                    error -> LOG.warn("source {} cannot be used: {}", object.id(), error.getMessage()));
                }

                @Override
                public void removed(String id) {
                    sources.remove(id).subscribe(done -> {}, error -> LOG.warn("source {} was not ended", id, error));
                }
            });
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
