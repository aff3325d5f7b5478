// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Called on the cluster's loop only, the thread that owns the state of a {@link ClusterNode}. On a type it applies to all methods without
 * another annotation.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
@interface OnClusterLoop {}
