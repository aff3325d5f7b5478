// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.AdoptionWatch;
import io.smqtt.topic.TopicFilter;
import java.util.List;

/** The filters of sessions of a failed node that its server does not serve. Messages for these are kept for their node. */
@OnClusterLoop
final class LeftOut {

    /** The adoption is complete. */
    static final LeftOut NOTHING = new LeftOut(List.of());

    private final List<TopicFilter> filters;
    private final boolean everything;

    /**
     * Creates it.
     *
     * @param filters as of {@link AdoptionWatch#adopted}
     */
    LeftOut(List<String> filters) {
        this.everything = filters.contains(AdoptionWatch.EVERYTHING);
        this.filters =
                everything ? List.of() : filters.stream().map(TopicFilter::of).toList();
    }

    boolean isNothing() {
        return !everything && filters.isEmpty();
    }

    /** Whether a session that is not served may be a subscriber. */
    boolean matches(ApplicationMessage message) {
        if (everything) {
            return true;
        }
        for (TopicFilter filter : filters) {
            if (filter.matches(message.topic())) {
                return true;
            }
        }
        return false;
    }
}
