// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import org.jspecify.annotations.Nullable;

/** A reference to a member whose boxes are created before it. */
@OnClusterLoop
final class LateMember {

    private @Nullable Member known;

    void is(Member member) {
        known = member;
    }

    Member member() {
        Member member = known;
        if (member == null) {
            throw new IllegalStateException("not yet a member");
        }
        return member;
    }
}
