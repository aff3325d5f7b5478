// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.AccessAction;
import io.smqtt.spi.ClientIdentity;
import java.util.ArrayList;
import java.util.List;

/** The rules of one section by access. Filled by the parser, then read only. */
final class RuleSet {

    static final RuleSet EMPTY = new RuleSet();

    private final List<AclRule> allowRead = new ArrayList<>(0);
    private final List<AclRule> allowWrite = new ArrayList<>(0);
    private final List<AclRule> denyRead = new ArrayList<>(0);
    private final List<AclRule> denyWrite = new ArrayList<>(0);

    void add(AclRule rule, boolean deny, boolean read, boolean write) {
        if (read) {
            (deny ? denyRead : allowRead).add(rule);
        }
        if (write) {
            (deny ? denyWrite : allowWrite).add(rule);
        }
    }

    boolean denies(ClientIdentity client, AccessAction action, String topic) {
        List<AclRule> rules = action == AccessAction.PUBLISH ? denyWrite : denyRead;
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).denies(client, topic)) {
                return true;
            }
        }
        return false;
    }

    boolean allows(ClientIdentity client, AccessAction action, String topic) {
        List<AclRule> rules = action == AccessAction.PUBLISH ? allowWrite : allowRead;
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).allows(client, topic)) {
                return true;
            }
        }
        return false;
    }
}
