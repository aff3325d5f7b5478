// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Called on the committing thread of a store only. On a type it applies to all methods without another annotation. */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD})
@interface OnCommittingThread {}
