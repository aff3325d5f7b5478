// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.Set;

/** A client library under test, reduced to what the scenarios need. Never reconnects by itself. */
interface ClientLibrary extends AutoCloseable {

    /** Name and version for the test report. */
    String name();

    /** Protocol levels on the wire (3, 4, 5) that the library speaks. */
    Set<Integer> versions();

    /** Connects and returns after CONNACK; messages are kept from the first on. Fails on a refusal. */
    ClientLink connect(ConnectRequest request) throws Exception;

    /** Whether user properties of different names keep their order in the library's own data type. */
    default boolean ordersUserProperties() {
        return true;
    }

    @Override
    default void close() {}
}
