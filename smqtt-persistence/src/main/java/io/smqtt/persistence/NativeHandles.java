// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.ArrayDeque;
import java.util.Deque;

/** Native objects that belong together; they are closed in the reverse order, the last one first. One thread. */
final class NativeHandles implements AutoCloseable {

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Adds an object, and returns it. */
    <T extends AutoCloseable> T own(T handle) {
        opened.push(handle);
        return handle;
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("a native handle cannot be closed", e);
            }
        }
    }
}
