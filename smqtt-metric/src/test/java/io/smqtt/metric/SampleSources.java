// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.ActionType;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.Sources;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** One source, {@code orders}, that fails. */
final class SampleSources implements Sources {

    @Override
    public List<SourceStatus> status() {
        return List.of(new SourceStatus(
                "orders", "http", SourceStatus.State.FAILING, "Failed to bind", 10, 1, 2, 3, 4, 5, 6L));
    }

    @Override
    public boolean operate(String name, Operation operation) {
        return false;
    }

    @Override
    public Mono<String> probe(String name) {
        return Mono.empty();
    }

    @Override
    public List<ActionType> types() {
        return List.of();
    }

    @Override
    public Mono<String> probe(Map<String, String> keys) {
        return Mono.empty();
    }

    @Override
    public Mono<List<String>> check(String name, Map<String, String> keys) {
        return Mono.just(List.of());
    }

    @Override
    public Mono<Void> put(String name, Map<String, String> keys) {
        return Mono.empty();
    }

    @Override
    public Mono<Void> remove(String name) {
        return Mono.empty();
    }
}
