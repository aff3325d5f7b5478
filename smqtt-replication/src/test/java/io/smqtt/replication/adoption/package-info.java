// SPDX-License-Identifier: Apache-2.0
/**
 * A model of the adoption of a node's group by another node, of claims that move sessions between groups, and of the return of the node, in virtual
 * time. It is built from the parts that the product has, or is to get, and each rule of theirs can be left out to see that it is needed.
 */
@NullMarked
package io.smqtt.replication.adoption;

import org.jspecify.annotations.NullMarked;
