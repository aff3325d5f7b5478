// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.spi.PeerQueries;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** Questions to the other nodes of a cluster, of which one never answers, and any other has one answer to all. */
final class OneAnsweringPeer implements PeerQueries {

    /** The node that never answers. */
    static final String SILENT = "n\"3";

    private final Supplier<String> answer;

    OneAnsweringPeer(Supplier<String> answer) {
        this.answer = answer;
    }

    @Override
    public void answer(String name, Function<byte[], Mono<byte[]>> answers) {}

    @Override
    public Mono<byte[]> ask(String peer, String name, byte[] question, Duration deadline) {
        return peer.equals(SILENT)
                ? Mono.<byte[]>never().timeout(deadline)
                : Mono.just(answer.get().getBytes(StandardCharsets.UTF_8));
    }
}
