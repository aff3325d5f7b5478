// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.jwt;

import io.smqtt.ReloadResult;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** Keys from a file, which can be read again while the broker runs. */
@AnyThread
final class FileKeys implements KeySource {

    private final Path file;
    private final Supplier<List<VerificationKey>> reader;
    private volatile List<VerificationKey> keys;

    /**
     * Reads the file. Blocks.
     *
     * @param file the file, for reports
     * @param reader reads the keys; throws {@link ConfigurationException} if they cannot be used
     */
    FileKeys(Path file, Supplier<List<VerificationKey>> reader) {
        this.file = file;
        this.reader = reader;
        this.keys = List.copyOf(reader.get());
    }

    @Override
    public Mono<List<VerificationKey>> keys(SignedToken token) {
        return Mono.just(KeySource.suiting(keys, token));
    }

    @Override
    public ReloadResult reload() {
        try {
            keys = List.copyOf(reader.get());
            return new ReloadResult(List.of(file.toString()), List.of());
        } catch (ConfigurationException e) {
            return new ReloadResult(List.of(), e.problems());
        }
    }
}
