// SPDX-License-Identifier: Apache-2.0
package io.smqtt.leak;

import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class after which Netty reports a leak. Found by JUnit through the service loader in every module that has
 * the core's test jar on its path. A leak is seen when its buffer is collected, so now and then it is charged to a class
 * that ran later than the guilty one; the access records in the message tell.
 */
public final class LeakExtension implements AfterAllCallback {

    private final LeakRecorder recorder = LeakRecorder.install();

    /** Called by the service loader. */
    public LeakExtension() {}

    @Override
    public void afterAll(ExtensionContext context) {
        boolean nested = context.getParent().filter(LeakExtension::isClass).isPresent();
        if (nested) {
            return;
        }
        List<String> leaks = recorder.drain();
        if (!leaks.isEmpty()) {
            throw new AssertionError(leaks.size() + " leak(s) reported by Netty:\n" + String.join("\n", leaks));
        }
    }

    private static boolean isClass(ExtensionContext context) {
        return context.getTestClass().isPresent();
    }
}
