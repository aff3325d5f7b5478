// SPDX-License-Identifier: Apache-2.0
package io.smqtt.leak;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Collects what Netty's leak detectors report. Netty looks for collected resources only when the next one is created, and
 * would then only log them; {@link #drain()} forces the look and hands the reports over. Must be installed before the first
 * buffer is allocated, because Netty keeps its detectors in static fields. Any thread may call it.
 */
final class LeakRecorder extends ResourceLeakDetectorFactory implements ResourceLeakDetector.LeakListener {

    private static final int COLLECTIONS = 20;
    private static final long CANARY_TIMEOUT_MILLIS = 500;
    private static final LeakRecorder INSTALLED = new LeakRecorder();

    private final List<RecordingDetector<?>> detectors = new CopyOnWriteArrayList<>();
    private final Queue<String> leaks = new ConcurrentLinkedQueue<>();

    private LeakRecorder() {}

    /** Puts the recorder in front of Netty's detectors; does nothing the second time. */
    static LeakRecorder install() {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(INSTALLED);
        return INSTALLED;
    }

    /** Collects garbage and returns the leaks found since the last call, each with its access records. */
    List<String> drain() {
        collectGarbage();
        detectors.forEach(RecordingDetector::poll);
        List<String> found = new ArrayList<>();
        for (String leak = leaks.poll(); leak != null; leak = leaks.poll()) {
            found.add(leak);
        }
        return found;
    }

    @Override
    public void onLeak(String resourceType, String records) {
        leaks.add(resourceType + " was not released before it was garbage-collected" + records);
    }

    @Override
    @Deprecated
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(
            Class<T> resource, int samplingInterval, long maxActive) {
        return newResourceLeakDetector(resource, samplingInterval);
    }

    @Override
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval) {
        RecordingDetector<T> detector = new RecordingDetector<>(resource, samplingInterval);
        detector.setLeakListener(this);
        detectors.add(detector);
        return detector;
    }

    /**
     * Returns when every tracker that is garbage now has reached its detector's queue. A canary that comes out of its own
     * queue shows that a collection took place; the one of a second round shows that all of the first were handed on.
     */
    private static void collectGarbage() {
        for (int round = 0; round < 2; round++) {
            ReferenceQueue<Object> queue = new ReferenceQueue<>();
            WeakReference<Object> canary = new WeakReference<>(new Object(), queue);
            awaitCollection(queue);
            Reference.reachabilityFence(canary);
        }
    }

    private static void awaitCollection(ReferenceQueue<Object> queue) {
        try {
            for (int i = 0; i < COLLECTIONS; i++) {
                System.gc();
                if (queue.remove(CANARY_TIMEOUT_MILLIS) != null) {
                    return;
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class RecordingDetector<T> extends ResourceLeakDetector<T> {

        @SuppressWarnings("unchecked")
        private final T probe = (T) new Object();

        RecordingDetector(Class<T> resource, int samplingInterval) {
            super(resource, samplingInterval);
        }

        /** Tracking anything makes the detector look at what the collector has found. */
        void poll() {
            ResourceLeakTracker<T> tracker = track(probe);
            if (tracker != null) {
                tracker.close(probe);
            }
            Reference.reachabilityFence(probe);
        }

        @Override
        protected boolean needReport() {
            return true;
        }

        /** Nothing is logged here: the failing test class shows the report. */
        @Override
        protected void reportTracedLeak(String resourceType, String records) {}

        @Override
        protected void reportUntracedLeak(String resourceType) {}
    }
}
