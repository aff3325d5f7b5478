// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jgroups.Address;

/**
 * A cache of verdicts on addresses, which are needed for each message. A verdict is kept as long as its basis is the same object. Thread-safe.
 *
 * @param <T> the verdict
 */
final class Verdicts<T> {

    /** Addresses come with each connect of a node; most of them are of the past. */
    private static final int MAXIMUM = 1_000;

    private volatile Kept<T> kept = new Kept<>(new Object(), new ConcurrentHashMap<>());

    private record Kept<T>(Object basis, Map<Address, T> verdicts) {}

    /**
     * The verdict on an address.
     *
     * @param basis what it depends on, besides the address
     * @param judge finds it out
     */
    T of(Address address, Object basis, Function<Address, T> judge) {
        Kept<T> now = kept;
        if (now.basis != basis || now.verdicts.size() > MAXIMUM) {
            now = new Kept<>(basis, new ConcurrentHashMap<>());
            kept = now;
        }
        T known = now.verdicts.get(address);
        if (known == null) {
            known = judge.apply(address);
            now.verdicts.put(address, known);
        }
        return known;
    }
}
